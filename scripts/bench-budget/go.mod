module chaoslab/scripts/bench-budget

go 1.26.0

replace chaoslab => ../..

require (
	chaoslab v0.0.0-00010101000000-000000000000
	github.com/sony/gobreaker/v2 v2.4.0
)

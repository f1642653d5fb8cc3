package main

import (
	"math"
	"strings"
)

// sparkline draws values between 0 and most, one column each.
func sparkline(values []float64, most float64) string {
	marks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		i := 0
		if most > 0 && v > 0 {
			i = int(math.Ceil(v/most*float64(len(marks)))) - 1
		}
		b.WriteRune(marks[min(max(i, 0), len(marks)-1)])
	}
	return b.String()
}

// squeeze makes at most columns values of many, each the mean of its share.
func squeeze(values []float64, columns int) []float64 {
	if len(values) <= columns {
		return values
	}
	out := make([]float64, columns)
	for i := range out {
		from, to := i*len(values)/columns, (i+1)*len(values)/columns
		for _, v := range values[from:to] {
			out[i] += v / float64(to-from)
		}
	}
	return out
}

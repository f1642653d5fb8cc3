package budgetcaller

// takenBytes says how much of what was written the partner's side has taken.
type takenBytes struct {
	bytes  uint64 // acknowledged so far, over the life of the connection
	queued uint64 // handed to the system and not yet acknowledged
}

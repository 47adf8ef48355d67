package recon

// MostNewer is how many newer runs of each kind [Newer] has whole.
const MostNewer = 3

// Newer is what the runs after one have made of its business days.
type Newer struct {
	// Complete are the newest complete runs of those days, each once, newest first: their reports stand in the place of the run's own, each for
	// the days that it has.
	Complete []Run
	// Incomplete are the newest of the runs that were not complete, and that no newer complete one of the same day stands for, newest first.
	Incomplete []Run
	// Numbers are those of every run of which Incomplete has the newest, newest first.
	Numbers []RunID
}

// Again are the numbers of the complete ones.
func (n Newer) Again() []RunID {
	var out []RunID
	for _, r := range n.Complete {
		out = append(out, r.ID)
	}
	return out
}

package bench

import "fmt"

// busyPeak is 100,000 payments on one day, a third of them within two hours, in payments a second.
const busyPeak = 5

// advice says in plain words what the figures mean.
func advice(r Result) []string {
	best := 0.0
	for _, a := range r.Accept {
		best = max(best, a.PerSecond)
	}
	syncs := r.Disk.Overwrite.PerSecond
	out := []string{
		fmt.Sprintf("This disk syncs %s times a second: about %s webhooks a second are on disk before they are acknowledged. "+
			"100,000 payments on one busy day, a third of them within two hours, are %d a second.", thousands(syncs), thousands(best), busyPeak),
		fmt.Sprintf("With %d MT5 sessions and an MT5 server that answers at once, %s deposits a second reach their accounts; "+
			"a real server takes its own time for each call, and a login has one call at a time.", r.Wire.Sessions, thousands(r.Wire.PerSecond)),
	}
	if r.Paced.Ratio > 1 {
		out = append(out, fmt.Sprintf("At %d webhooks a second one in a hundred waits more than %.1f ms, over the limit of %.1f ms: "+
			"something else uses this disk or these processors.", r.Paced.Rate, r.Paced.P99, r.Paced.Limit))
	}
	if r.Lookup.Ratio > 1 {
		out = append(out, fmt.Sprintf("Under full load one look at a deposit in a hundred takes more than %.1f ms: more processors help.", r.Lookup.P99))
	}
	switch {
	case syncs < 200:
		out = append(out, "The disk is slow to sync: put the data directory on an SSD with power-loss protection.")
	case syncs > 20_000:
		out = append(out, "So many syncs a second are more than disks do: check that this disk really keeps what it has acknowledged when the power fails.")
	}
	return out
}

// thousands writes a rate with two significant digits or whole, and commas.
func thousands(rate float64) string {
	n := int64(rate + 0.5)
	if n < 1000 {
		return fmt.Sprint(n)
	}
	n = (n + 50) / 100 * 100
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

package invariant

import (
	"crypto/sha256"

	"creditonce/credit"
	"creditonce/recon"
)

// Tally is what is judged of a run's items, taken piece by piece: how many there are of each class, what they add up to, and which difference
// comes twice. It holds 16 bytes of each item and no more. The zero value is ready; it is not safe for concurrent use.
type Tally struct {
	items   int
	classes map[recon.Class]int
	sums    map[rollOf]credit.Amount
	keys    map[[16]byte]bool
	twice   []recon.Key
}

// rollOf names a roll-forward.
type rollOf struct {
	side     recon.Side
	provider string
	currency string
}

// mostTwice bounds how many doubled items one run tells of.
const mostTwice = 20

// Add takes one more item.
func (t *Tally) Add(item recon.Item) {
	if t.classes == nil {
		t.classes, t.sums, t.keys = map[recon.Class]int{}, map[rollOf]credit.Amount{}, map[[16]byte]bool{}
	}
	t.items++
	t.classes[item.Key.Class]++
	sum := sha256.Sum256([]byte(string(item.Key.Class) + " " + item.Key.Entity))
	key := [16]byte(sum[:])
	if t.keys[key] && len(t.twice) < mostTwice {
		t.twice = append(t.twice, item.Key)
	}
	t.keys[key] = true
	if item.Key.Class == "payout_difference" { // it stands between no two lists
		return
	}
	for _, a := range item.Offs() {
		of := rollOf{item.Side, item.Provider, a.Currency()}
		t.sums[of] = total(t.sums[of], a)
	}
}

// tally is that of all items.
func (r *ReconRun) tally() *Tally {
	if r.Tally == nil {
		r.Tally = &Tally{}
		for _, item := range r.Items {
			r.Tally.Add(item)
		}
	}
	return r.Tally
}

package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// decided fills a store with what people do: two people, a key, a proposal that one confirmed and one that is open.
func decided(w *storetest.World) {
	write := func(change func(f desk.Found, c *desk.Changes)) {
		w.T.Helper()
		_, err := w.B.Act(w.T.Context(), desk.Query{}, func(f desk.Found) (desk.Changes, error) {
			c := desk.Changes{Record: desk.Record{Seq: f.NextRecord, Person: "ada", Previous: f.Previous}}
			change(f, &c)
			return c, nil
		})
		w.Must(err)
	}
	write(func(f desk.Found, c *desk.Changes) {
		c.People = []desk.Person{{ID: "abe", Name: "Abe", Users: []string{"abe"}}, {ID: "ada", Name: "Ada", Users: []string{"ada"}}}
		c.Keys = []desk.Key{{Number: f.NextKey, Name: "shop", SHA256: "ab"}}
	})
	for _, end := range []bool{true, false} {
		write(func(f desk.Found, c *desk.Changes) {
			p := desk.Proposal{ID: f.NextProposal, By: "ada", State: desk.ProposalOpen, Reason: "because", ExpiresAt: w.Clock.Now().Truncate(time.Microsecond)}.Sealed()
			if end {
				p.State, p.EndedBy = desk.ProposalConfirmed, "abe"
			}
			c.Proposal = &p
			c.Record.Rows = []credit.ID{1}
		})
	}
}

// What people decided cannot be changed behind the store's back without a finding.
func TestVerify_FindsDamageToWhatPeopleDecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(*bolt.Tx) error
		want   string
	}{
		{"edited record", edit("audit", id(1), `"person":"ada"`, `"person":"eve"`), `bucket "audit": audit record 2 does not chain`},
		{"lost record", func(tx *bolt.Tx) error { return tx.Bucket([]byte("audit")).Delete(id(2)) }, `bucket "audit": audit record 3 stands at place 2`},
		{"cut log", func(tx *bolt.Tx) error { return tx.Bucket([]byte("audit")).Delete(id(3)) }, `bucket "audit": the log ends at record 2, 3 were written`},
		{"record of no row", edit("audit", id(3), `"rows":[1]`, `"rows":[9]`), `bucket "audit": record 3 names credit 9, which does not exist`},
		{"edited proposal", edit("proposals", id(1), `"reason":"because"`, `"reason":"no"`), `bucket "proposals": proposal 1 is not what its digest says`},
		{"confirmed by its own maker", edit("proposals", id(1), `"ended_by":"abe"`, `"ended_by":"ada"`), `bucket "proposals": proposal 1 of ada was confirmed by "ada"`},
		{"one account of two people", firstKey("people", func(b *bolt.Bucket, k, v []byte) error {
			return edit("people", k, `"users":["abe"]`, `"users":["ada"]`)(b.Tx())
		}), `bucket "people": the account ada belongs to abe and to ada`},
		{"open proposals miscounted", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("proposal open")).Delete(id(2))
		}, `bucket "proposal open": the entry of row 2 is missing`},
		{"revived key", edit("api keys", id(1), `"sha256":"ab"`, `"sha256":"cd"`), `bucket "api key by hash": the entry of row 1 is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, db := world(t, nil)
			w.Pay(1001, 500)
			decided(w)
			w.Must(db.Raw(c.damage))
			r, err := db.Verify(t.Context(), nil)
			w.Must(err)
			if !slices.ContainsFunc(r.Findings, func(f string) bool { return strings.Contains(f, c.want) }) {
				t.Errorf("findings %q, want %q", r.Findings, c.want)
			}
			w.Must(db.Close(t.Context()))
		})
	}
}

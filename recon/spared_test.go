package recon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"creditonce/credit"
)

// standingBook has discrepancies and nothing else.
type standingBook struct {
	RunBook
	list []Discrepancy
}

func (b standingBook) Discrepancies(_ context.Context, after Key, limit int) ([]Discrepancy, error) {
	at := 0
	if after != (Key{}) {
		at = slices.IndexFunc(b.list, func(d Discrepancy) bool { return d.Key == after }) + 1
	}
	return b.list[at:min(len(b.list), at+limit)], nil
}

// ofDeal is an open discrepancy about a deal made by hand.
func ofDeal(ticket uint64) Discrepancy {
	i := Item{
		Key: Key{DealWithoutReference, fmt.Sprintf("deal/%s/%d", server, ticket)}, Side: SideMT5, At: carryTime.Add(-1),
		Deals: []Deal{{Identity: server, At: carryTime.Add(-1), Deal: credit.Deal{Ticket: ticket, Login: 7}}},
	}
	return Discrepancy{Key: i.Key, State: DiscrepancyOpen, Subject: i.Subject(), Last: 2}
}

// asking is a server that is asked for deals one by one.
type asking struct {
	answers map[uint64]error // nil: it has the deal
	asked   []uint64
	ended   int
}

func (a *asking) runner(list ...Discrepancy) *Runner {
	ask := func() (func(context.Context, uint64) (credit.Deal, error), func()) {
		return func(_ context.Context, ticket uint64) (credit.Deal, error) {
			a.asked = append(a.asked, ticket)
			err, known := a.answers[ticket]
			if !known {
				err = credit.ErrNotFound
			}
			return credit.Deal{Ticket: ticket, Login: 8, ServerTime: 1764547200}, err
		}, func() { a.ended++ }
	}
	return &Runner{Book: standingBook{list: list}, Servers: []ServerList{{Label: "main", Identity: server, Ask: ask}}}
}

// mt5Run is a complete run of MT5's side too.
func mt5Run(id RunID) Run {
	run := carryRun(id)
	run.Sources = append(run.Sources, Source{List: ListDeals, Entity: server, Complete: true})
	return run
}

// sparing is what a run spares whose list has the deals of in.
func sparing(t *testing.T, r *Runner, run Run, in ...uint64) map[Key]string {
	t.Helper()
	before, err := r.standingNow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ticket := range in {
		before.saw(&Deal{Identity: server, Deal: credit.Deal{Ticket: ticket}})
	}
	out, err := r.spared(t.Context(), run, before)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSpared_OnlyTheWordOfMT5SaysThatADealIsGone(t *testing.T) {
	t.Parallel()
	pair := ofDeal(5)
	pair.Key, pair.Subject.Tickets = Key{DuplicateReference, "credit/1"}, Numbers{5, 6}
	old := ofDeal(4) // of a store from before tickets were kept
	old.Subject.Tickets = nil
	accepted := ofDeal(9)
	accepted.State = DiscrepancyAccepted
	seen := ofDeal(3) // shown by this run
	seen.Last = 3
	a := &asking{answers: map[uint64]error{4: nil, 6: nil, 2: errors.New("no answer")}}
	spared := sparing(t, a.runner(ofDeal(1), ofDeal(2), pair, old, accepted, seen, ofDeal(8)), mt5Run(3), 5, 8)
	if len(spared) != 3 {
		t.Errorf("spared are %v", spared)
	}
	for key, want := range map[Key]string{
		ofDeal(2).Key: "MT5 gave no answer",
		pair.Key:      "the deal is still at MT5: dated 2025-12-01 00:00:00 (the server's own clock), on login 8; no list has deal 6",
		old.Key:       "no list has deal 4",
	} {
		if !strings.Contains(spared[key], want) {
			t.Errorf("%s: %q", key.Entity, spared[key])
		}
	}
	if want := []uint64{1, 2, 6, 4}; !slices.Equal(a.asked, want) || a.ended != 1 {
		t.Errorf("asked for %v, want %v; ended %d times", a.asked, want, a.ended)
	}
	blind := mt5Run(3)
	blind.State = RunIncomplete
	a.asked = nil
	if spared := sparing(t, a.runner(ofDeal(1)), blind); len(spared)+len(a.asked) != 0 {
		t.Errorf("an incomplete run, which closes nothing, asked for %v", a.asked)
	}
}

func TestSpared_WhatIsNotAskedForStaysOpenWithoutAWord(t *testing.T) {
	t.Parallel()
	var many []Discrepancy
	for n := range uint64(mostAsked + 700) { // more than a page
		many = append(many, ofDeal(1000+n))
	}
	a := &asking{}
	spared := sparing(t, a.runner(many...), mt5Run(3))
	if len(a.asked) != mostAsked || len(spared) != 700 {
		t.Errorf("asked for %d, spared %d", len(a.asked), len(spared))
	}
	for key, note := range spared {
		if note != "" {
			t.Errorf("%s: %q", key.Entity, note)
		}
	}
	silent := &asking{answers: map[uint64]error{}}
	for _, d := range many {
		silent.answers[d.Subject.Tickets[0]] = errors.New("no answer")
	}
	if spared := sparing(t, silent.runner(many...), mt5Run(3)); len(silent.asked) != mostSilent || len(spared) != len(many) {
		t.Errorf("a server that says nothing was asked %d times, spared are %d", len(silent.asked), len(spared))
	}
	r := a.runner(ofDeal(1))
	r.Servers[0].Ask = nil
	if spared := sparing(t, r, mt5Run(3)); len(spared) != 1 {
		t.Errorf("a server that cannot be asked: %v", spared)
	}
}

func TestSpared_IsNotedOnceUntilItChanges(t *testing.T) {
	t.Parallel()
	d, task := ofDeal(1), credit.Task{ID: 7}
	for n, note := range []string{"on login 8", "on login 8", "", "on login 9", "on login 8"} {
		c := Spared(mt5Run(RunID(3+n)), carryTime, d, task, note)
		if c.Task != nil {
			task = *c.Task
		}
		if !task.IsOpen() || c.Did == CarryClosed {
			t.Fatalf("%s: closed", note)
		}
	}
	var said []string
	for _, n := range task.Notes {
		said = append(said, n.Text)
	}
	if want := []string{"on login 8", "on login 9", "on login 8"}; !slices.Equal(said, want) {
		t.Errorf("notes %q, want %q", said, want)
	}
	if c := Spared(mt5Run(2), carryTime, d, task, "of an older run"); c.Did != CarryNothing {
		t.Errorf("%+v", c)
	}
}

func TestSpared_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	a := &asking{answers: map[uint64]error{}}
	r := a.runner(ofDeal(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.spared(ctx, mt5Run(3), standing{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

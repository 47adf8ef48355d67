package storetest

import (
	"slices"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// newestComesFirst: pages from the newest on show what pages from the oldest on show, the other way round.
func newestComesFirst(w *World) {
	const n = 17
	ctx := w.T.Context()
	for range n {
		w.Unreadable()
		_, err := w.act(desk.Query{}, func(desk.Found, *desk.Changes) {})
		w.Must(err)
	}
	events, err := w.B.Events(ctx, 0, 1000)
	w.Must(err)
	records, err := w.B.Records(ctx, 0, 1000)
	w.Must(err)
	if len(events) < n || len(records) < n {
		w.T.Fatalf("%d events, %d records", len(events), len(records))
	}
	for _, limit := range []int{1, 5, len(events), 1000} {
		var seen []credit.EventID
		for below := credit.EventID(0); ; below = seen[len(seen)-1] {
			page, err := w.B.NewestEvents(ctx, below, limit)
			w.Must(err)
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				seen = append(seen, e.ID)
			}
		}
		slices.Reverse(seen)
		if !slices.EqualFunc(seen, events, func(id credit.EventID, e credit.Event) bool { return id == e.ID }) {
			w.T.Errorf("pages of %d: events %v", limit, seen)
		}
		var audit []uint64
		for below := uint64(0); ; below = audit[len(audit)-1] {
			page, err := w.B.NewestRecords(ctx, below, limit)
			w.Must(err)
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				audit = append(audit, r.Seq)
			}
		}
		slices.Reverse(audit)
		if !slices.EqualFunc(audit, records, func(seq uint64, r desk.Record) bool { return seq == r.Seq }) {
			w.T.Errorf("pages of %d: records %v", limit, audit)
		}
	}
}

// openTasksAreCounted: every open task is counted under its kind, a closed one is not, and the oldest is the first opened.
func openTasksAreCounted(w *World) {
	ctx := w.T.Context()
	none, err := w.B.OpenTasks(ctx)
	w.Must(err)
	if len(none) != 0 {
		w.T.Errorf("tasks of an empty store: %+v", none)
	}
	first := w.Unreadable()
	for range 5 {
		w.Unreadable()
	}
	f := Paid("clash", "", "", 500)
	f.CodesClash = true // held with a task
	w.Accept(w.Event(f))
	want := map[credit.TaskKind]int{}
	for _, t := range w.OpenTasks() {
		want[t.Kind]++
	}
	got, err := w.B.OpenTasks(ctx)
	w.Must(err)
	if len(got) != len(want) || len(got) < 2 {
		w.T.Fatalf("counted %+v, open are %v", got, want)
	}
	for _, k := range got {
		if k.Open != want[k.Kind] || (k.Kind == first.Kind && !k.Oldest.Equal(first.OpenedAt)) {
			w.T.Errorf("%s: %+v, open are %d", k.Kind, k, want[k.Kind])
		}
	}
	_, err = w.act(desk.Query{Act: desk.Act{Subject: "task/1"}}, func(_ desk.Found, c *desk.Changes) {
		c.Credit.Close = []credit.TaskClose{{Key: first.Key(), By: "oscar", Reason: "seen", At: w.Clock.Now()}}
	})
	w.Must(err)
	after, err := w.B.OpenTasks(ctx)
	w.Must(err)
	for _, k := range after {
		if k.Kind == first.Kind && k.Open != want[k.Kind]-1 {
			w.T.Errorf("after one was closed: %+v", k)
		}
	}
}

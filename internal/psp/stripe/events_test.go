package stripe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
)

func TestEvents_EveryEventOfTheWindowAtEveryPageBoundary(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 99, 100, 101, 200, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.pay(n)
			got, listing, err := w.list(nil)
			if err != nil {
				t.Fatal(err)
			}
			if pages := max(1, (n+99)/100); listing.Pages != pages || listing.Events != n {
				t.Errorf("%d events on %d pages, want %d on %d", listing.Events, listing.Pages, n, pages)
			}
			seen := ids(got)
			for _, id := range made {
				if seen[id] != 1 {
					t.Errorf("event %s came %d times", id, seen[id])
				}
			}
			for i := 1; i < len(got); i++ {
				if got[i].Created.After(got[i-1].Created) {
					t.Fatalf("event %d is younger than the one before", i)
				}
			}
		})
	}
}

func TestEvents_BytesAreTheListsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(1)
	got, _, err := w.list(nil)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	var here, there bytes.Buffer
	if err := errors.Join(json.Compact(&here, got[0].Raw), json.Compact(&there, w.fake.Events()[0].Body)); err != nil {
		t.Fatal(err)
	}
	if here.String() != there.String() || bytes.Equal(got[0].Raw, w.fake.Events()[0].Body) {
		t.Errorf("the list gave\n%s\nthe webhook has\n%s", got[0].Raw, w.fake.Events()[0].Body)
	}
}

func TestEvents_OnlyTheWindowAndTheTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.pay(10)
	if _, err := w.fake.Pay(fakepsp.PaymentRequest{
		Code: "c", Amount: 1, Currency: "usd", Events: []string{"charge.succeeded"}, Delivery: fakepsp.Delivery{Lost: true},
	}); err != nil {
		t.Fatal(err)
	}
	var got []Event
	_, err := w.client.Events(t.Context(), start.Add(2*time.Second), start.Add(6*time.Second), func(e Event) error {
		got = append(got, e)
		return nil
	})
	if err != nil || len(got) != 5 || got[0].ID != made[6] || got[4].ID != made[2] {
		t.Errorf("got %d events (%v), want 2 to 6, both included", len(got), err)
	}
}

func TestEvents_ArrivingWhilePagingNeitherShiftNorHideOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.pay(150)
	first := true
	got, _, err := w.list(func(Event) error {
		if first {
			first = false
			w.pay(70)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := ids(got)
	for i, id := range made {
		if seen[id] != 1 {
			t.Errorf("event %d came %d times", i, seen[id])
		}
	}
}

func TestEvents_TwiceInTheListIsTwiceHandedOverAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.pay(250)
	w.faults(fakepsp.APIFaults{Twice: true})
	got, _, err := w.list(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, twice := ids(got), 0
	for _, id := range made {
		if seen[id] == 0 {
			t.Errorf("event %s did not come", id)
		}
		twice += seen[id] - 1
	}
	if twice != 2 {
		t.Errorf("%d events came twice, want one a page boundary", twice)
	}
}

func TestEvents_OlderThanThirtyDays_ListsTheRestAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(3)
	w.pass(31 * 24 * time.Hour)
	young := w.pay(2)
	got, _, err := w.list(nil)
	if f := wantFault(t, err, Expired); !strings.Contains(f.Error(), "30 days") {
		t.Errorf("says %q", f)
	}
	if len(got) != 2 || got[1].ID != young[0] {
		t.Errorf("%d events, want the 2 that are listed still", len(got))
	}
}

func TestEvents_FastClockHere_EndsTheWindowByStripesClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(1)
	theirs := w.clock()
	listing, err := w.client.Events(t.Context(), start, theirs.Add(2*time.Hour), func(Event) error { return nil })
	if err != nil || !listing.Until.Equal(theirs.Truncate(time.Second)) {
		t.Errorf("until %s (%v), want %s", listing.Until, err, theirs)
	}
}

func TestEvents_TakeFails_EndsWithItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(3)
	full := errors.New("the store is full")
	got, _, err := w.list(func(Event) error { return full })
	if !errors.Is(err, full) || len(got) != 1 {
		t.Errorf("%d events, %v", len(got), err)
	}
}

func TestEvents_ContextEnds_IsItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(120)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.client.Events(ctx, start, w.clock(), func(Event) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

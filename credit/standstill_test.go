package credit

import (
	"slices"
	"testing"
	"time"
)

// standstillStory plays what stops the service, second by second.
type standstillStory struct {
	t    *testing.T
	m    Standstills
	boot time.Duration
	at   time.Time
}

func (s *standstillStory) pass(d time.Duration) { s.boot, s.at = s.boot+d, s.at.Add(d) }

// decides wants the entities of the tasks that open and close, and lets the store have written them or not.
func (s *standstillStory) decides(step string, stops []Stop, written bool, opens, closes []string) {
	s.t.Helper()
	open, closing := s.m.Decide(stops, s.boot, s.at)
	var gotOpen, gotClosing []string
	for _, t := range open {
		gotOpen = append(gotOpen, t.Entity)
		if t.Kind != TaskStandstill || t.Summary == "" || t.Next == "" || !t.OpenedAt.Equal(s.at) {
			s.t.Errorf("%s: %+v", step, t)
		}
	}
	for _, c := range closing {
		gotClosing = append(gotClosing, c.Key.Entity)
	}
	if !slices.Equal(gotOpen, opens) || !slices.Equal(gotClosing, closes) {
		s.t.Errorf("%s: opens %v and closes %v, want %v and %v", step, gotOpen, gotClosing, opens, closes)
	}
	if written {
		s.m.Written(open, closing)
	}
}

func TestStandstill_IsOneTaskForAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	s := &standstillStory{t: t, m: Standstills{Calm: time.Minute}, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	witness := Stop{Key: "witness", Why: "permission denied", Next: "see to it"}
	mt5 := Stop{Key: "mt5/main", Server: "main", Why: "dial refused", Next: "see to it", Grace: 5 * time.Minute}
	told := Stop{Key: "mode", Why: "hold", Next: "release", Told: true}
	all := []Stop{told, witness, mt5}
	s.decides("nothing is wrong", nil, true, nil, nil)
	s.decides("the store cannot write it", all, false, []string{"standstill/witness"}, nil)
	s.decides("it is tried again", all, true, []string{"standstill/witness"}, nil)
	s.pass(4 * time.Minute)
	s.decides("a server may be away for a while", all, true, nil, nil)
	s.pass(time.Minute)
	s.decides("and then people hear of it", all, true, []string{"standstill/mt5/main"}, nil)
	s.pass(time.Hour)
	s.decides("no second task", all, true, nil, nil)
	s.decides("the witness can be written", []Stop{mt5}, true, nil, nil)
	s.pass(30 * time.Second)
	s.decides("and not again", all, true, nil, nil)
	s.pass(time.Hour)
	s.decides("it is over", nil, true, nil, nil)
	s.pass(59 * time.Second)
	s.decides("for less than a minute, which may be a pause", nil, true, nil, nil)
	s.pass(time.Second)
	s.decides("for a minute", nil, false, nil, []string{"standstill/mt5/main", "standstill/witness"})
	s.decides("the store could not write that", nil, true, nil, []string{"standstill/mt5/main", "standstill/witness"})
	s.decides("once", nil, true, nil, nil)
	s.decides("the server is away again", []Stop{mt5}, true, nil, nil)
	s.decides("and back within its grace", nil, true, nil, nil)
	s.pass(time.Hour)
	s.decides("which is nobody's business", []Stop{mt5}, true, nil, nil)
}

func TestStandstill_OfAnEarlierProcessIsTakenOver(t *testing.T) {
	t.Parallel()
	s := &standstillStory{t: t, m: Standstills{Calm: time.Minute}, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	for _, entity := range []string{"standstill/disk", "standstill/witness"} {
		s.m.Resume(Task{ID: 1, Kind: TaskStandstill, Entity: entity})
	}
	s.m.Resume(Task{ID: 2, Kind: TaskStuck, Entity: "credit/1"})
	disk := []Stop{{Key: "disk", Why: "full", Next: "make room"}}
	s.decides("it still lasts", disk, true, nil, nil)
	s.pass(time.Minute)
	s.decides("the other one is over", disk, true, nil, []string{"standstill/witness"})
}

func TestStops_OfTheSettingsSayWhatEndsThem(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		s    Settings
		keys []string
	}{
		"live":             {Settings{Mode: ModeLive}, nil},
		"observe":          {Settings{Mode: ModeObserve}, []string{"mode"}},
		"hold":             {Settings{Mode: ModeHold, ModeReason: "maintenance"}, []string{"mode"}},
		"restored":         {Settings{Mode: ModeHold, Restore: &Restore{At: at}}, []string{"restore", "mode"}},
		"released":         {Settings{Mode: ModeLive, Restore: &Restore{At: at, ReleasedAt: at}}, nil},
		"doubt":            {Settings{Mode: ModeHold, Doubt: &Doubt{At: at, Reason: "another machine"}}, []string{"doubt", "mode"}},
		"doubt in observe": {Settings{Mode: ModeObserve, Doubt: &Doubt{At: at}}, []string{"doubt", "mode"}},
	} {
		var keys []string
		for _, stop := range test.s.Stops() {
			keys = append(keys, stop.Key)
			if stop.Why == "" || stop.Next == "" || !stop.Told || stop.Server != "" {
				t.Errorf("%s: %+v", name, stop)
			}
		}
		if !slices.Equal(keys, test.keys) {
			t.Errorf("%s: %v, want %v", name, keys, test.keys)
		}
	}
}

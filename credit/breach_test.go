package credit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func breaches(from, to int) (out []Breach) {
	for i := from; i < to; i++ {
		out = append(out, Breach{Key: fmt.Sprint("I-M4 ", i), Name: "I-M4", Text: fmt.Sprintf("credit %d is done twice", i)})
	}
	return out
}

func TestBreach_HoldsTheModeWithItsReasonAndOneTask(t *testing.T) {
	t.Parallel()
	c, fresh, err := HoldForBreaches(Settings{Mode: ModeLive}, breaches(7, 9), noon)
	if err != nil || len(fresh) != 2 {
		t.Fatalf("%v, %d fresh", err, len(fresh))
	}
	const reason = "an invariant is broken: I-M4: credit 7 is done twice; and 1 more"
	if c.Settings.Mode != ModeHold || c.Settings.ModeReason != reason || !c.Settings.ModeAt.Equal(noon) {
		t.Errorf("mode %s, %q, %s", c.Settings.Mode, c.Settings.ModeReason, c.Settings.ModeAt)
	}
	if len(c.Open) != 1 || c.Open[0].Summary != reason || len(c.Open[0].Records[0].Fields) != 2 {
		t.Errorf("tasks %+v", c.Open)
	}
}

func TestBreach_ThatPeopleWereToldOfStopsTheServiceOnce(t *testing.T) {
	t.Parallel()
	c, _, err := HoldForBreaches(Settings{Mode: ModeLive}, breaches(0, 1), noon)
	if err != nil {
		t.Fatal(err)
	}
	released := c.Settings
	released.Mode = ModeLive
	if _, _, err := HoldForBreaches(released, breaches(0, 1), noon.Add(time.Hour)); !errors.Is(err, ErrConflict) {
		t.Errorf("told again: %v", err)
	}
	again, fresh, err := HoldForBreaches(released, breaches(0, 2), noon.Add(time.Hour))
	if err != nil || len(fresh) != 1 || again.Settings.Mode != ModeHold || !strings.Contains(again.Settings.ModeReason, "credit 1 ") {
		t.Errorf("a new one: %v, %v, %s", err, fresh, again.Settings.ModeReason)
	}
}

func TestBreach_InAHoldKeepsItsReason(t *testing.T) {
	t.Parallel()
	s := Settings{Mode: ModeHold, ModeReason: "a backup was restored", ModeBy: "anna", ModeAt: noon.Add(-time.Hour)}
	c, _, err := HoldForBreaches(s, breaches(0, 1), noon)
	if err != nil || c.Settings.ModeReason != s.ModeReason || c.Settings.ModeBy != "anna" || len(c.Open) != 1 {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestBreach_RemembersAndShowsABoundedNumber(t *testing.T) {
	t.Parallel()
	c, fresh, err := HoldForBreaches(Settings{Mode: ModeLive}, breaches(0, 3*mostBreaches), noon)
	if err != nil || len(fresh) != 3*mostBreaches {
		t.Fatalf("%v, %d", err, len(fresh))
	}
	if len(c.Settings.Breaches) != mostBreaches || len(c.Open[0].Records[0].Fields) != shownBreaches {
		t.Errorf("%d kept, %d shown", len(c.Settings.Breaches), len(c.Open[0].Records[0].Fields))
	}
}

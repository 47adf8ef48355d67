package credit

import (
	"testing"
	"time"
)

// The instance that is another one's copy, or an older store, knows of its own calls only: until a restore or takeover has
// come to a row, the call that people must wait for can be the other instance's (found by the exhaustive model).
func TestPeople_CloseAndAdoptNothingWhileAnotherInstanceMayHaveACallUnderWay(t *testing.T) {
	t.Parallel()
	late := 30 * time.Minute
	restore := &Restore{Number: 1, Kind: FromCopy, At: noon, Mark: Mark{Process: "p", Boot: time.Hour + late}}
	movedAll := *restore
	movedAll.MovedAt = noon
	for name, c := range map[string]struct {
		settings Settings
		row      func(*Credit)
		want     string
	}{
		"in doubt":                          {settings: Settings{Mode: ModeHold, Doubt: &Doubt{Reason: "another file"}}, want: "doubt"},
		"taken over, the row not moved yet": {settings: Settings{Mode: ModeHold, Restore: restore}, want: "moving"},
		"taken over, the row born after it": {settings: Settings{Mode: ModeHold, Restore: restore}, row: func(c *Credit) { c.Restore = 1 }},
		"taken over, every row moved":       {settings: Settings{Mode: ModeHold, Restore: &movedAll}},
		"never restored":                    {settings: Settings{Mode: ModeLive}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := joinedRow(Unknown)
			row.UnknownSince = Mark{Process: "q"}
			proven(time.Hour + late)(&row)
			if c.row != nil {
				c.row(&row)
			}
			d := Dossier{Row: row, Settings: c.settings}
			_, err := CloseWithoutDeal(d, twoPeople, guardAt(late))
			wantCode(t, err, c.want)
			_, err = Adopt(d, twoPeople, guardAt(late), dealOf(row), 0, "")
			wantCode(t, err, c.want)
		})
	}
}

// Two open rows on a login invite that the deal of one is taken for the other's (design §6; found by the exhaustive model).
func TestRetryFailed_WaitsUntilTheOtherRowOfTheLoginIsSettled(t *testing.T) {
	t.Parallel()
	d := Dossier{Row: joinedRow(Failed), Settings: Settings{Mode: ModeLive}, Busy: []ID{8}}
	_, err := RetryFailed(d, onePerson, guardAt(time.Hour))
	wantCode(t, err, "login_busy")
	d.Busy = nil
	_, err = RetryFailed(d, onePerson, guardAt(time.Hour))
	wantCode(t, err, "")
}

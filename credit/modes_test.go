package credit

import (
	"reflect"
	"testing"
	"time"
)

func TestModes_Table(t *testing.T) {
	t.Parallel()
	cut := noon.Add(-time.Hour)
	for name, c := range map[string]struct {
		from    Settings
		do      func(Settings) (Settings, error)
		want    Mode
		cutover time.Time
		code    string
	}{
		"go live":                 {Settings{Mode: ModeObserve}, goLive(time.Time{}), ModeLive, noon, ""},
		"go live later":           {Settings{Mode: ModeObserve}, goLive(noon.Add(time.Hour)), ModeLive, noon.Add(time.Hour), ""},
		"go live at once, named":  {Settings{Mode: ModeObserve}, goLive(noon), ModeLive, noon, ""},
		"go live, finer than us":  {Settings{Mode: ModeObserve}, goLive(noon.Add(time.Nanosecond)), ModeLive, noon.Add(time.Second), ""},
		"go live in the past":     {Settings{Mode: ModeObserve}, goLive(noon.Add(-1)), "", time.Time{}, "cutover"},
		"go live twice":           {Settings{Mode: ModeLive}, goLive(time.Time{}), "", time.Time{}, "mode"},
		"go live from hold":       {Settings{Mode: ModeHold}, goLive(time.Time{}), "", time.Time{}, "mode"},
		"hold":                    {Settings{Mode: ModeLive, CutoverAt: cut}, hold, ModeHold, cut, ""},
		"hold while observing":    {Settings{Mode: ModeObserve}, hold, ModeHold, time.Time{}, ""},
		"hold twice":              {Settings{Mode: ModeHold}, hold, "", time.Time{}, "mode"},
		"release":                 {Settings{Mode: ModeHold, CutoverAt: cut}, release, ModeLive, cut, ""},
		"release before go-live":  {Settings{Mode: ModeHold}, release, ModeObserve, time.Time{}, ""},
		"release of a demo":       {Settings{Mode: ModeHold, Demo: true}, release, ModeLive, time.Time{}, ""},
		"release without a hold":  {Settings{Mode: ModeLive, CutoverAt: cut}, release, "", time.Time{}, "mode"},
		"release while observing": {Settings{Mode: ModeObserve}, release, "", time.Time{}, "mode"},
	} {
		got, err := c.do(c.from)
		wantCode(t, err, c.code)
		if err != nil {
			if !reflect.DeepEqual(got, c.from) {
				t.Errorf("%s: refused, and yet %+v", name, got)
			}
			continue
		}
		if got.Mode != c.want || !got.CutoverAt.Equal(c.cutover) || got.ModeBy != twoPeople.Actor || got.ModeReason != "because" || !got.ModeAt.Equal(noon) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func goLive(at time.Time) func(Settings) (Settings, error) {
	return func(s Settings) (Settings, error) { return GoLive(s, twoPeople, at) }
}

func hold(s Settings) (Settings, error) { return HoldMode(s, twoPeople) }

func release(s Settings) (Settings, error) { return ReleaseMode(s, twoPeople, Guard{}) }

func TestCloseTask_OnlyWhereTheRowDoesNotNeedIt(t *testing.T) {
	t.Parallel()
	for kind, state := range ofState {
		task := Task{ID: 3, Kind: kind, Entity: RowEntity(7)}
		for _, s := range States() {
			row := joinedRow(s)
			_, err := CloseTask(task, &row, onePerson)
			want := ""
			if s == state {
				want = "row_open"
			}
			wantCode(t, err, want)
		}
	}
	task := Task{ID: 3, Kind: TaskRefund, Entity: "payment/x"}
	closing, err := CloseTask(task, nil, onePerson)
	if err != nil || closing.By != "anna" || closing.Reason != "because" || closing.Key != task.Key() {
		t.Errorf("%+v, %v", closing, err)
	}
	task.ClosedAt = noon
	_, err = CloseTask(task, nil, onePerson)
	wantCode(t, err, "closed")
}

package credit

import (
	"errors"
	"testing"
	"time"
)

// The clock was ahead when the store was restored, and is right again: what is known until now is all that there is.
func TestGap_OfARestoreInTheFutureCanBeFilledNow(t *testing.T) {
	t.Parallel()
	s := BeginRestore(Settings{Pins: []Pin{{Name: "provider/stripe-eu"}}, Mode: ModeLive}, Restore{
		Kind: FromBackup, At: noon.Add(200 * 24 * time.Hour), Since: noon.Add(-time.Hour),
	}, "instance-2", nil).Settings
	people := People{Actor: "anna", Reason: "looked through", At: noon}
	checked, err := GapChecked(s, people, "stripe-eu")
	if err != nil || len(checked.OpenGaps()) != 0 {
		t.Errorf("by a person: %v, open %v", err, checked.OpenGaps())
	}
	pull := GapPull{Provider: "stripe-eu", From: s.OpenGaps()[0].From, To: noon, At: noon.Add(time.Minute), By: "pull"}
	if _, err := GapPulled(s, pull); !errors.Is(err, ErrInvalid) {
		t.Errorf("a pull that ends before it was made: %v", err)
	}
	pull.To = pull.At
	pulled, err := GapPulled(s, pull)
	if err != nil || len(pulled.OpenGaps()) != 0 {
		t.Errorf("by a pull: %v, open %v", err, pulled.OpenGaps())
	}
}

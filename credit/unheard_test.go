package credit

import (
	"testing"
	"time"
)

// A provider that was connected after the backup was made has a gap as every other.
func TestUnheard_AProviderThatTheBackupDoesNotKnowHasAGap(t *testing.T) {
	t.Parallel()
	s := BeginRestore(Settings{Pins: []Pin{{Name: "provider/stripe-eu", Value: "stripe acct_1"}}}, Restore{Kind: FromBackup, At: noon, Since: noon.Add(-time.Hour)}, "i", nil).Settings
	for _, pin := range []string{"provider/wallet", "mt5/main"} {
		s = Unheard(s, pin)
	}
	gaps := s.Restore.Gaps
	if len(gaps) != 2 || gaps[0].Provider != "stripe-eu" || gaps[1].Provider != "wallet" || !gaps[1].From.Equal(gaps[0].From) || gaps[1].Complete {
		t.Errorf("the gaps are %+v", gaps)
	}
	s.Restore.ReleasedAt = noon
	if after := Unheard(s, "provider/later"); len(after.Restore.Gaps) != 2 {
		t.Errorf("after the release: %+v", after.Restore.Gaps)
	}
	if never := Unheard(Settings{}, "provider/first"); never.Restore != nil {
		t.Errorf("of a store that was never restored: %+v", never.Restore)
	}
}

package app

import (
	"testing"

	"creditonce/internal/config"
)

func TestH41_LimitsOfAnHourAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	c := &config.Config{}
	c.MT5.Servers = map[string]config.MT5Server{"main": {Currencies: map[string]int{"USD": 2, "JPY": 0}}}
	c.Limits = config.Limits{PerLoginDay: map[string]string{"USD": "500.00", "JPY": "50000"}, PerHour: map[string]string{"USD": "2000.00"}}
	p, err := pace(c)
	if err != nil {
		t.Fatal(err)
	}
	if p.Reissues != mostReissues || p.Reissued["USD"].String() != "500.00 USD" || p.Reissued["JPY"].String() != "50000 JPY" {
		t.Errorf("repeated calls are bounded by %d and %v", p.Reissues, p.Reissued)
	}
	if len(p.Claimed) != 1 || p.Claimed["USD"].String() != "2000.00 USD" {
		t.Errorf("all calls are bounded by %v", p.Claimed)
	}
}

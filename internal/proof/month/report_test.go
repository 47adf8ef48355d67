package month

import (
	"encoding/csv"
	"io"
	"math/big"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/report"
)

// What a month's report says of each roll-forward is explained by what the report itself lists: in its totals, and in the column of
// amounts of its table, payout differences and items that are off in two currencies among them.
func TestTruth_ReportsExplainTheirTotals(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		got := compare(t, m.Rules, m.Lines, m.Rows, m.Deals)
		twoCurrencies, payouts := 0, 0
		for _, i := range got.items {
			if len(i.Beside) > 0 {
				twoCurrencies++
			}
			if i.Key.Class == recon.PayoutDifference {
				payouts++
			}
		}
		if twoCurrencies == 0 || payouts == 0 {
			t.Fatalf("%d items in two currencies and %d payout differences: the month shows nothing", twoCurrencies, payouts)
		}
		data := report.Data{Run: recon.Run{ID: 1, Zone: "UTC", From: m.Rules.From, Until: m.Rules.Until, Started: m.Rules.Until, Outcome: got.outcome}, Environment: "test", Items: list(got.items)}
		listed := listedIn(t, data)
		totals := readTable(t, data, report.CSVRolls)
		if len(totals) != len(got.outcome.Rolls) {
			t.Fatalf("%d totals, want %d", len(totals), len(got.outcome.Rolls))
		}
		for i, line := range totals {
			r := got.outcome.Rolls[i]
			key := pageKey{r.Side, r.Provider, r.Currency}
			if v := Exact(amountIn(t, line["not_explained"], r.Currency)); v.Sign() != 0 {
				t.Errorf("%v: %s is not explained", key, line["not_explained"])
			}
			if v := orZero(listed[key]); v.Cmp(Exact(r.Listed)) != 0 {
				t.Errorf("%v: the column adds up to %s, the comparison lists %s", key, v, r.Listed)
			}
		}
	})
}

// listedIn adds up the column of amounts as a bookkeeper would, payout differences left out.
func listedIn(t *testing.T, d report.Data) map[pageKey]*big.Int {
	t.Helper()
	out := map[pageKey]*big.Int{}
	for _, line := range readTable(t, d, report.CSV) {
		if line["off"] == "" || line["class"] == string(recon.PayoutDifference) {
			continue
		}
		key := pageKey{recon.Side(line["compared"]), line["provider"], line["off_currency"]}
		out[key] = new(big.Int).Add(orZero(out[key]), Exact(amountIn(t, line["off"], line["off_currency"])))
	}
	return out
}

func amountIn(t *testing.T, text, currency string) credit.Amount {
	t.Helper()
	places := 0
	if _, fraction, ok := strings.Cut(text, "."); ok {
		places = len(fraction)
	}
	a, err := credit.ParseAmount(text, currency, places)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// readTable renders one of the report's tables and reads it back, by the heads of its columns.
func readTable(t *testing.T, d report.Data, render func(io.Writer, report.Data) error) []map[string]string {
	t.Helper()
	var b strings.Builder
	if err := render(&b, d); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]string, 0, len(records)-1)
	for _, r := range records[1:] {
		line := map[string]string{}
		for i, head := range records[0] {
			line[head] = r[i]
		}
		out = append(out, line)
	}
	return out
}

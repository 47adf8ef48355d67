package paypal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/paypal"
	"creditonce/recon"
	"creditonce/recon/paypal"
)

// pulledDay is the business day in the account's zone, which is eight hours behind.
var pulledDay = time.Date(2026, 1, 6, 8, 0, 0, 0, time.UTC)

func pullOptions() recon.ReadOptions {
	return recon.ReadOptions{Provider: recon.Provider{Label: "paypal", Kind: "paypal", Account: "EZ782AXEUJUW8"}, Name: "stl.csv"}
}

// listed is an API whose list is what the test says.
type listed []psp.Transaction

func (l listed) Transactions(_ context.Context, account string, _, _ time.Time, page func([]byte), take func(psp.Transaction) error) error {
	if account != pullOptions().Provider.Account {
		return errors.New("another account")
	}
	page([]byte("a page"))
	for _, t := range l {
		if err := take(t); err != nil {
			return err
		}
	}
	return nil
}

func pull(t *testing.T, api paypal.API) (recon.Statement, []recon.Line, error) {
	t.Helper()
	var lines []recon.Line
	st, err := paypal.NewPuller(api, pullOptions()).Pull(t.Context(), pulledDay, pulledDay.AddDate(0, 0, 1), func(l recon.Line) error {
		lines = append(lines, l)
		return nil
	})
	return st, lines, err
}

// sold is a settled sale.
func sold() psp.Transaction {
	at := time.Date(2026, 1, 6, 10, 0, 30, 0, time.UTC)
	return psp.Transaction{
		ID: "7AA11", Event: "T0006", Status: "S", Initiated: at, Updated: at, Amount: psp.Money{Currency: "AUD", Value: "52.00"},
		Fee: psp.Money{Currency: "AUD", Value: "-2.25"}, Invoice: "inv-1", Custom: "dep-1",
	}
}

func TestPull_HasTheLinesAndNaturalKeysOfTheFile(t *testing.T) {
	t.Parallel()
	at := sold().Initiated
	euro := func(v string) psp.Money { return psp.Money{Currency: "EUR", Value: v} }
	yen := psp.Money{Currency: "JPY", Value: "900"}
	list := listed{
		sold(),
		{ID: "7AA12", Event: "T0006", Status: "V", Initiated: at, Updated: at.AddDate(0, 1, 0), Amount: yen, Invoice: "inv-2"},
		{ID: "7AA13", Event: "T1107", Status: "S", Reference: "7AA11", ReferenceType: "TXN", Initiated: at, Updated: at, Amount: psp.Money{Currency: "AUD", Value: "-10.5"}},
		{ID: "7AA14", Event: "T1201", Status: "S", Reference: "6ZZ01", ReferenceType: "TXN", Initiated: at, Updated: at, Amount: euro("-30"), Custom: "dep-9"},
		{ID: "7AA15", Event: "T0106", Status: "S", Reference: "7AA14", ReferenceType: "TXN", Initiated: at, Updated: at, Amount: euro("-16.00")},
		{ID: "7AA16", Event: "T0200", Status: "S", Reference: "7AA11", ReferenceType: "TXN", Initiated: at, Updated: at, Amount: euro(".5")},
		{ID: "7AA17", Event: "T0400", Status: "S", Initiated: at, Updated: at, Amount: euro("-500.00")},
	}
	var rows strings.Builder
	for _, r := range []string{
		`7AA11,inv-1,,,T0006,CR,5200,AUD,DR,225,AUD,dep-1`, `7AA12,inv-2,,,T0006,CR,90000,JPY,,,,`, `7AA13,,7AA11,TXN,T1107,DR,1050,AUD,,,,`,
		`7AA14,,6ZZ01,TXN,T1201,DR,3000,EUR,,,,dep-9`, `7AA15,,7AA14,TXN,T0106,DR,1600,EUR,,,,`, `7AA16,,7AA11,TXN,T0200,CR,50,EUR,,,,`, `7AA17,,,,T0400,DR,50000,EUR,,,,`,
	} {
		f := strings.Split(r, ",")
		stamp := "2026/01/06 02:00:30 -0800"
		fmt.Fprintf(&rows, "SB,%s,%s,%s\n", strings.Join(f[:5], ","), stamp+","+stamp, strings.Join(f[5:], ","))
	}
	file := "RH,2026/01/07 02:00:00 -0800,A,EZ782AXEUJUW8,011,1\nFH,1\nSH,2026/01/06 00:00:00 -0800,2026/01/06 23:59:59 -0800,EZ782AXEUJUW8\n" +
		"CH,Transaction ID,Invoice ID,PayPal Reference ID,PayPal Reference ID Type,Transaction Event Code,Transaction Initiation Date,Transaction Completion Date," +
		"Transaction Debit or Credit,Gross Transaction Amount,Gross Transaction Currency,Fee Debit or Credit,Fee Amount,Fee Currency,Custom Field\n" + rows.String()
	var read []recon.Line
	if _, err := paypal.NewReader(pullOptions()).Read(t.Context(), strings.NewReader(file), func(l recon.Line) error {
		read = append(read, l)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	st, lines, err := pull(t, list)
	if err != nil || len(lines) != len(list) || len(read) != len(list) || len(st.Problems) != 0 || st.Rows != len(list) {
		t.Fatalf("%d lines pulled, %d read, problems %+v, %v", len(lines), len(read), st.Problems, err)
	}
	for i, l := range lines {
		if l.NaturalKey() != read[i].NaturalKey() || recon.OtherFacts(read[i], l) != "" || !l.At.Equal(read[i].At) || l.Row != i+1 {
			t.Errorf("line %d: file %+v, pull %+v", i, read[i], l)
		}
		if i != 1 && !l.SettledAt.Equal(read[i].SettledAt) {
			t.Errorf("line %d: settled by the file at %s, by the API at %s", i, read[i].SettledAt, l.SettledAt)
		}
	}
	if got := lines[1].Moment(); !got.Equal(at) {
		t.Errorf("a payment that was given back later counts at %s, want %s", got, at)
	}
	if a := lines[0]; a.Payment != "7AA11" || a.Gross.String() != "52.00 AUD" || a.Fee.String() != "-2.25 AUD" || a.Net.String() != "49.75 AUD" || a.Code != "dep-1" {
		t.Errorf("the sale: %+v", a)
	}
}

func TestPull_WhatIsDoubtfulCountsNowhereAndIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*psp.Transaction)
		says   string
	}{
		"pending":           {func(x *psp.Transaction) { x.Status = "P" }, "pending"},
		"denied":            {func(x *psp.Transaction) { x.Status = "D" }, "denied"},
		"status unknown":    {func(x *psp.Transaction) { x.Status = "X" }, "does not document"},
		"code unknown":      {func(x *psp.Transaction) { x.Event = "T9999" }, "T9999"},
		"refund of nothing": {func(x *psp.Transaction) { x.Event, x.Amount.Value = "T1107", "-1" }, "refers to no transaction"},
		"refund of an order": {
			func(x *psp.Transaction) {
				x.Event, x.Amount.Value, x.Reference, x.ReferenceType = "T1107", "-1", "O1", "ODR"
			}, "refers to no transaction",
		},
		"sale going out": {func(x *psp.Transaction) { x.Amount.Value = "-52.00" }, "other direction"},
	} {
		x := sold()
		c.change(&x)
		st, lines, err := pull(t, listed{x})
		if err != nil || len(lines) != 1 || lines[0].Type != recon.LineUnknown || len(st.Problems) != 1 || !strings.Contains(st.Problems[0].Text, c.says) {
			t.Errorf("%s: %+v, %+v, %v", name, lines, st.Problems, err)
		}
	}
	for name, change := range map[string]func(*psp.Transaction){
		"thousandths":        func(x *psp.Transaction) { x.Amount.Value = "1.234" },
		"fee in another":     func(x *psp.Transaction) { x.Fee.Currency = "USD" },
		"fee of thousandths": func(x *psp.Transaction) { x.Fee.Value = "0.001" },
	} {
		x := sold()
		change(&x)
		if st, lines, err := pull(t, listed{x}); err == nil || len(lines) != 0 || st.Digest != "" {
			t.Errorf("%s: %+v", name, lines)
		}
	}
}

func TestPull_TwiceIsTheSameAndAnotherDayIsAnotherStatement(t *testing.T) {
	t.Parallel()
	first, lines, err := pull(t, listed{sold()})
	second, again, err2 := pull(t, listed{sold()})
	if err != nil || err2 != nil || !reflect.DeepEqual(first, second) || !reflect.DeepEqual(lines, again) || len(first.Digest) != 64 {
		t.Errorf("%v, %v: %+v and %+v", err, err2, first, second)
	}
	other, err := paypal.NewPuller(listed{sold()}, pullOptions()).Pull(t.Context(), pulledDay, pulledDay.AddDate(0, 0, 2), func(recon.Line) error { return nil })
	if err != nil || other.Digest == first.Digest {
		t.Errorf("another time has the same digest (%v)", err)
	}
}

func TestPull_TimesAreWholeSecondsAndErrorsOfEmitComeBackAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]time.Time{{pulledDay, pulledDay}, {pulledDay.Add(1), pulledDay.Add(time.Hour)}, {pulledDay, pulledDay.Add(1)}} {
		if _, err := paypal.NewPuller(listed{}, pullOptions()).Pull(t.Context(), c[0], c[1], nil); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%v: %v", c, err)
		}
	}
	full := errors.New("the store is full")
	_, err := paypal.NewPuller(listed{sold()}, pullOptions()).Pull(t.Context(), pulledDay, pulledDay.Add(time.Hour), func(recon.Line) error { return full })
	if !errors.Is(err, full) || err.Error() != full.Error() {
		t.Errorf("got %v", err)
	}
}

// The wire as a whole: the client's own stub is in its package; here PayPal's answers are two texts.
func TestPull_OverTheWire(t *testing.T) {
	t.Parallel()
	refreshed := "2026-01-07T07:59:59Z"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/oauth2/token" {
			_, _ = io.WriteString(w, `{"scope":"https://uri.paypal.com/services/reporting/search/read","access_token":"t","token_type":"Bearer","expires_in":900}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"transaction_details":[{"transaction_info":{"transaction_id":"7AA11","transaction_event_code":"T0006","transaction_status":"S",`+
			`"transaction_initiation_date":"2026-01-06T02:00:30-0800","transaction_updated_date":"2026-01-06T02:00:30-0800",`+
			`"transaction_amount":{"currency_code":"AUD","value":"52.00"},"custom_field":"dep-1"}}],"account_number":"EZ782AXEUJUW8",`+
			`"last_refreshed_datetime":%q,"page":1,"total_items":1,"total_pages":1}`, refreshed)
	}))
	t.Cleanup(server.Close)
	client, err := psp.New(psp.Config{
		URL: server.URL, ID: "id", Secret: func() []byte { return []byte("s3cret") }, Now: func() time.Time { return pulledDay.AddDate(0, 0, 2) },
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Spread: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if _, _, err := pull(t, client); err == nil || !strings.Contains(err.Error(), "2026-01-07 07:59:59 UTC only") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a list that ends a second too early: %v", err)
	}
	refreshed = "2026-01-07T08:00:00Z"
	st, lines, err := pull(t, client)
	if err != nil || len(lines) != 1 || lines[0].Payment != "7AA11" || lines[0].Fee.IsSet() || !st.From.Equal(pulledDay) || st.Format != "paypal-api" {
		t.Errorf("%+v, %+v, %v", lines, st, err)
	}
}

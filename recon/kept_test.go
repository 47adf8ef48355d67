package recon_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// shifted is a settled payment with something else about it.
func shifted(change func(*recon.Line)) recon.Line {
	usd := func(minor int64) credit.Amount {
		a, err := credit.Minor(minor, "USD", 2)
		if err != nil {
			panic(err)
		}
		return a
	}
	l := recon.Line{
		Provider: recon.Provider{Label: "a", Kind: "psp", Account: "acct"}, Digest: "d1", Row: 2, Type: recon.LinePayment, Word: "charge",
		Payment: "p1", Movement: "m1", Code: "D1", Batch: "po_1", Gross: usd(500), Net: usd(500), At: time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC),
	}
	change(&l)
	return l
}

func TestOtherFacts_WhatOneLeavesOutIsNoContradiction(t *testing.T) {
	t.Parallel()
	zero, err := credit.Minor(0, "USD", 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*recon.Line)
		want   string // empty: they say the same
	}{
		"another file and time": {func(l *recon.Line) { l.Digest, l.Row, l.At = "d2", 9, l.At.Add(time.Hour) }, ""},
		"no code":               {func(l *recon.Line) { l.Code = "" }, ""},
		"another code":          {func(l *recon.Line) { l.Code = "D2" }, "code was D1, now D2"},
		"no batch":              {func(l *recon.Line) { l.Batch = "" }, ""},
		"another batch":         {func(l *recon.Line) { l.Batch = "po_2" }, "batch was po_1, now po_2"},
		"a fee of zero":         {func(l *recon.Line) { l.Fee = zero }, ""},
		"no gross":              {func(l *recon.Line) { l.Gross = credit.Amount{} }, "gross was 5.00 USD, now "},
		"a net of zero":         {func(l *recon.Line) { l.Net = zero }, "net was 5.00 USD, now 0.00 USD"},
	} {
		was, now := shifted(func(*recon.Line) {}), shifted(c.change)
		if got := recon.OtherFacts(was, now); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := recon.OtherFacts(now, was); (got == "") != (c.want == "") {
			t.Errorf("%s, the other way round: %q", name, got)
		}
	}
}

func TestNaturalKey_NamesTheBatchOfRowsOfTheAccountOnly(t *testing.T) {
	t.Parallel()
	plain := shifted(func(*recon.Line) {})
	for name, c := range map[string]struct {
		change   func(*recon.Line)
		key, one bool // of the same natural key; can be one movement
	}{
		"another batch":    {func(l *recon.Line) { l.Batch = "po_2" }, true, true},
		"no batch":         {func(l *recon.Line) { l.Batch = "" }, true, true},
		"another movement": {func(l *recon.Line) { l.Movement = "m2" }, false, false},
		"another type":     {func(l *recon.Line) { l.Type = recon.LineFee }, false, false},
	} {
		l := shifted(c.change)
		if (l.NaturalKey() == plain.NaturalKey()) != c.key || recon.OneMovement(plain, l) != c.one {
			t.Errorf("%s: %q and %q, one movement: %v", name, l.NaturalKey(), plain.NaturalKey(), recon.OneMovement(plain, l))
		}
	}
	account := func(batch string) recon.Line {
		return shifted(func(l *recon.Line) { l.Payment, l.Batch = "", batch })
	}
	if account("po_1").NaturalKey() == account("po_2").NaturalKey() {
		t.Error("rows of two payouts have one key")
	}
	nameless := func(batch string) recon.Line {
		return shifted(func(l *recon.Line) { l.Movement, l.Batch = "", batch })
	}
	if recon.OneMovement(nameless("po_1"), nameless("po_2")) || !recon.OneMovement(nameless(""), nameless("po_2")) {
		t.Error("without an id two batches are two movements, and none can be any")
	}
}

func TestStatementIDs_AreASetThatIsTextInJSON(t *testing.T) {
	t.Parallel()
	var ids recon.StatementIDs
	for _, id := range []recon.StatementID{7, 3, 7, 9, 3} {
		ids = ids.With(id)
	}
	text, err := json.Marshal(ids)
	if err != nil || string(text) != `["3","7","9"]` || !ids.Has(7) || ids.Has(4) {
		t.Errorf("%s, %v", text, err)
	}
	var back recon.StatementIDs
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 3 || !back.Has(9) {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range []string{`[1]`, `["x"]`, `"1"`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

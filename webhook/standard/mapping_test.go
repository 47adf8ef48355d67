package standard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook/standard"
)

// payload is how a system of the tests writes its messages.
func payload() standard.Payload {
	return standard.Payload{
		Type: "type", OccurredAt: "timestamp", Livemode: "data.live", Merchant: "data.merchant", Status: "data.status",
		AmountIs: standard.Decimal,
		Paid: standard.Paid{
			Types: []string{"payment.paid", "payment.captured"}, Payment: "data.id", Part: "data.capture", Amount: "data.amount.value",
			Currency: "data.amount.currency", Code: "data.metadata.deposit",
		},
		Refund: standard.Reversal{Types: []string{"refund.created"}, Payment: "data.payment", Movement: "data.id",
			Amount: "data.amount.value", Currency: "data.amount.currency"},
		Dispute:   standard.Reversal{Types: []string{"dispute.opened"}, Payment: "data.payment"},
		Ignored:   []string{"payment.created"},
		Exponents: map[string]int{"USDT": 6, "UGX": 2},
	}
}

const (
	paidMessage = `{"type":"payment.paid","timestamp":"2026-11-30T12:00:00.5+02:00","data":{"id":"pay_1","capture":7,"live":true,` +
		`"merchant":"acct","status":"ok","amount":{"value":"500.00","currency":"usd"},"metadata":{"deposit":"the-code"}}}`
	refundMessage = `{"type":"refund.created","timestamp":1760000000,"data":{"id":"re_1","payment":"pay_1","live":false,` +
		`"merchant":"acct","status":"ok","amount":{"value":"3.5","currency":"USDT"}}}`
)

func reader(t testing.TB, change ...func(*standard.Payload)) *standard.Provider {
	t.Helper()
	p := payload()
	for _, c := range change {
		c(&p)
	}
	provider, err := standard.New(standard.Config{Signing: signing(oldKey), Payload: p})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

var signedID = http.Header{"Webhook-Id": {"msg_1"}}

func TestMap_PaidMessage(t *testing.T) {
	t.Parallel()
	got, err := reader(t).Map(signedID, []byte(paidMessage))
	f := got.Facts
	if err != nil || got.MessageKey != "msg_1" || f.Effect != credit.EffectPaid || f.Type != "payment.paid" || f.Payment != "pay_1" ||
		f.Code != "the-code" || !f.Live || f.Merchant != "acct" || f.Status != "ok" || f.CodesClash {
		t.Fatalf("%+v, %v", got, err)
	}
	if !f.OccurredAt.Equal(time.Date(2026, 11, 30, 10, 0, 0, 5e8, time.UTC)) || f.OccurredAt.Location() != time.UTC {
		t.Errorf("occurred at %v", f.OccurredAt)
	}
	if len(f.Parts) != 1 || f.Parts[0].ID != "7" || f.Parts[0].Amount.String() != "500.00 USD" {
		t.Errorf("parts %+v", f.Parts)
	}
}

func TestMap_ReversalsAndOtherTypes(t *testing.T) {
	t.Parallel()
	got, err := reader(t).Map(signedID, []byte(refundMessage))
	f := got.Facts
	if err != nil || f.Effect != credit.EffectRefund || f.Payment != "pay_1" || f.Movement != "re_1" || f.Moved.String() != "3.500000 USDT" ||
		f.Live || f.OccurredAt.Unix() != 1_760_000_000 || len(f.Parts) != 0 {
		t.Errorf("refund: %+v, %v", f, err)
	}
	for name, tc := range map[string]struct {
		old, new string
		check    func(credit.Facts) bool
	}{
		"dispute": {"refund.created", "dispute.opened",
			func(f credit.Facts) bool {
				return f.Effect == credit.EffectDispute && f.Movement == "" && !f.Moved.IsSet()
			}},
		"known and quiet": {"refund.created", "payment.created",
			func(f credit.Facts) bool { return f.Effect == credit.EffectNone && f.Payment == "" }},
		"unknown": {"refund.created", "Refund.created",
			func(f credit.Facts) bool { return f.Effect == credit.EffectUnknown && f.Type == "Refund.created" }},
		"refund of a strange amount": {`"3.5"`, `3.5`,
			func(f credit.Facts) bool { return f.Effect == credit.EffectRefund && !f.Moved.IsSet() }},
	} {
		got, err := reader(t).Map(signedID, []byte(strings.Replace(refundMessage, tc.old, tc.new, 1)))
		if err != nil || !tc.check(got.Facts) {
			t.Errorf("%s: %+v, %v", name, got.Facts, err)
		}
	}
}

func TestMap_AmountsInTheConfiguredForm(t *testing.T) {
	t.Parallel()
	minor := func(p *standard.Payload) { p.AmountIs = standard.Minor }
	for name, tc := range map[string]struct {
		form            func(*standard.Payload)
		value, currency string
		want            string // empty: refused
	}{
		"decimal":                      {value: `"12.5"`, currency: "EUR", want: "12.50 EUR"},
		"decimal of a yen":             {value: `"12"`, currency: "JPY", want: "12 JPY"},
		"decimal with configured ones": {value: `"0.000001"`, currency: "USDT", want: "0.000001 USDT"},
		"configured wins over ISO":     {value: `"1.25"`, currency: "UGX", want: "1.25 UGX"},
		"decimal, three places":        {value: `"1.001"`, currency: "KWD", want: "1.001 KWD"},
		"decimal as a number":          {value: `12.5`, currency: "EUR"},
		"decimal, too many places":     {value: `"12.505"`, currency: "EUR"},
		"decimal with a comma":         {value: `"12,50"`, currency: "EUR"},
		"decimal with thousands":       {value: `"1,200.00"`, currency: "EUR"},
		"decimal with a plus":          {value: `"+1"`, currency: "EUR"},
		"decimal with a blank":         {value: `" 1"`, currency: "EUR"},
		"decimal with an exponent":     {value: `"1e3"`, currency: "EUR"},
		"decimal of nothing":           {value: `"0.00"`, currency: "EUR"},
		"decimal below nothing":        {value: `"-5.00"`, currency: "EUR"},
		"unknown currency":             {value: `"1"`, currency: "XYZ"},
		"currency of another alphabet": {value: `"1"`, currency: "ıDR"},
		"minor":                        {form: minor, value: `1250`, currency: "eur", want: "12.50 EUR"},
		"minor, beyond 53 bits":        {form: minor, value: `9007199254740993`, currency: "EUR", want: "90071992547409.93 EUR"},
		"minor as a text":              {form: minor, value: `"1250"`, currency: "EUR"},
		"minor with a point":           {form: minor, value: `1250.0`, currency: "EUR"},
		"minor with an exponent":       {form: minor, value: `1e3`, currency: "EUR"},
		"minor below nothing":          {form: minor, value: `-1`, currency: "EUR"},
		"minor of nothing":             {form: minor, value: `-0`, currency: "EUR"},
		"minor of 41 digits":           {form: minor, value: strings.Repeat("1", 41), currency: "EUR"},
	} {
		body := strings.NewReplacer(`"500.00"`, tc.value, `"usd"`, `"`+tc.currency+`"`).Replace(paidMessage)
		form := tc.form
		if form == nil {
			form = func(*standard.Payload) {}
		}
		got, err := reader(t, form).Map(signedID, []byte(body))
		switch {
		case tc.want == "" && err == nil:
			t.Errorf("%s: read as %s", name, got.Facts.Parts[0].Amount)
		case tc.want != "" && (err != nil || got.Facts.Parts[0].Amount.String() != tc.want):
			t.Errorf("%s: %+v, %v", name, got.Facts.Parts, err)
		}
	}
}

func TestMap_MissingOrOddMembersMakeTheMessageUnreadable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string][2]string{
		"no type":                    {`"type":"payment.paid",`, ``},
		"type null":                  {`"payment.paid"`, `null`},
		"type a number":              {`"payment.paid"`, `1`},
		"type empty":                 {`"payment.paid"`, `""`},
		"type twice":                 {`"type":"payment.paid"`, `"type":"payment.paid","type":"payment.created"`},
		"type in two cases":          {`"type":"payment.paid"`, `"type":"payment.paid","Type":"payment.created"`},
		"type by another case":       {`"type"`, `"Type"`},
		"no time":                    {`"timestamp":"2026-11-30T12:00:00.5+02:00",`, ``},
		"time in milliseconds":       {`"2026-11-30T12:00:00.5+02:00"`, `1760000000000`},
		"time with a fraction":       {`"2026-11-30T12:00:00.5+02:00"`, `1760000000.5`},
		"time negative":              {`"2026-11-30T12:00:00.5+02:00"`, `-1`},
		"time without a zone":        {`"2026-11-30T12:00:00.5+02:00"`, `"2026-11-30T12:00:00"`},
		"time before 1970":           {`"2026-11-30T12:00:00.5+02:00"`, `"1969-12-31T00:00:00Z"`},
		"seconds as a text":          {`"2026-11-30T12:00:00.5+02:00"`, `"1760000000"`},
		"no livemode":                {`"live":true,`, ``},
		"livemode a text":            {`"live":true`, `"live":"true"`},
		"livemode twice":             {`"live":true`, `"live":true,"LIVE":false`},
		"no merchant":                {`"merchant":"acct",`, ``},
		"no status":                  {`"status":"ok",`, ``},
		"status an object":           {`"status":"ok"`, `"status":{}`},
		"no payment":                 {`"id":"pay_1",`, ``},
		"payment true":               {`"pay_1"`, `true`},
		"payment a fraction":         {`"pay_1"`, `1.5`},
		"payment with a line break":  {`pay_1`, `pay_\n1`},
		"payment a lone surrogate":   {`pay_1`, `\ud800`},
		"payment too long":           {`pay_1`, strings.Repeat("p", 501)},
		"no part":                    {`"capture":7,`, ``},
		"part an object":             {`"capture":7`, `"capture":{}`},
		"no amount":                  {`"value":"500.00",`, ``},
		"amount twice":               {`"value":"500.00"`, `"value":"500.00","value":"5.00"`},
		"amount's object twice":      {`"amount":{`, `"amount":{},"amount":{`},
		"amount a list":              {`{"value":"500.00","currency":"usd"}`, `["500.00","usd"]`},
		"amount a text":              {`{"value":"500.00","currency":"usd"}`, `"500.00"`},
		"no currency":                {`,"currency":"usd"`, ``},
		"currency a number":          {`"usd"`, `840`},
		"code a number":              {`"the-code"`, `1`},
		"code empty":                 {`"the-code"`, `""`},
		"code in two spellings":      {`"deposit":"the-code"`, `"deposit":"the-code","DEPOSIT":"other"`},
		"metadata a text":            {`{"deposit":"the-code"}`, `"the-code"`},
		"data a list":                {`"data":{`, `"data":[],"x":{`},
		"more behind":                {`"the-code"}}}`, `"the-code"}}}{}`},
		"a text behind":              {`"the-code"}}}`, `"the-code"}}}x`},
		"cut":                        {`"the-code"}}}`, `"the-code"}}`},
		"not UTF-8 where none looks": {`"status":"ok"`, "\"status\":\"ok\",\"x\":\"\xff\""},
	} {
		if strings.Count(paidMessage, tc[0]) != 1 {
			t.Fatalf("%s: %q is not once in the message", name, tc[0])
		}
		got, err := reader(t).Map(signedID, []byte(strings.Replace(paidMessage, tc[0], tc[1], 1)))
		if err == nil {
			t.Errorf("%s: read as %+v", name, got.Facts)
		} else if strings.Contains(err.Error(), "the-code") || strings.Contains(err.Error(), "pay_1") || strings.Contains(err.Error(), "500") && name != "payment too long" && name != "status an object" && name != "code empty" && name != "type empty" {
			t.Errorf("%s: the reason repeats the body: %v", name, err)
		}
	}
	for _, body := range []string{"", " ", "null", "[]", `"x"`, "1", "{", `{"type"`, `{"type":}`, `{"type":"a",}`, strings.Repeat(`{"data":`, 20_000)} {
		if got, err := reader(t).Map(signedID, []byte(body)); err == nil {
			t.Errorf("%.20q was read as %+v", body, got)
		}
	}
}

func TestMap_TakesWhatDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string][2]string{
		"unchanged":               {`"pay_1"`, `"pay_1"`},
		"unknown members":         {`"type"`, `"new":{"a":[1.5e3,null],"a":2,"A":3},"type"`},
		"merchant's own metadata": {`"deposit":`, `"Order":"1","order":"2","deposit":`},
		"payment a number":        {`"pay_1"`, `12345678901234567890`},
		"no code":                 {`"deposit":"the-code"`, ``},
		"code null":               {`"the-code"`, `null`},
		"no metadata":             {`,"metadata":{"deposit":"the-code"}`, ``},
		"metadata null":           {`{"deposit":"the-code"}`, `null`},
		"white space":             {`{"type"`, " \r\n{ \"type\" "},
		"names escaped":           {`"amount":{`, `"am\u006funt":{`},
		"second paid type":        {`payment.paid`, `payment.captured`},
	} {
		got, err := reader(t).Map(signedID, []byte(strings.Replace(paidMessage, tc[0], tc[1], 1)))
		f := got.Facts
		wantCode := "the-code"
		if strings.Contains(name, "no code") || strings.Contains(name, "null") || name == "no metadata" {
			wantCode = ""
		}
		if err != nil || f.Effect != credit.EffectPaid || f.Code != wantCode || f.Payment == "" || f.Parts[0].Amount.Decimal() != "500.00" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestMap_FixedLivemodeAndNoOptionalMembers(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{true, false} {
		p := reader(t, func(p *standard.Payload) {
			p.Livemode, p.Live, p.Merchant, p.Status, p.Paid.Part = "", live, "", "", ""
		})
		got, err := p.Map(signedID, []byte(paidMessage))
		if f := got.Facts; err != nil || f.Live != live || f.Merchant != "" || f.Status != "" || f.Parts[0].ID != "" {
			t.Errorf("live %t: %+v, %v", live, f, err)
		}
	}
}

func TestNew_RefusesRulesThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*standard.Payload){
		"no form of amounts":      func(p *standard.Payload) { p.AmountIs = "" },
		"no paid type":            func(p *standard.Payload) { p.Paid.Types = nil },
		"type paid and refund":    func(p *standard.Payload) { p.Refund.Types = []string{"payment.paid"} },
		"empty type":              func(p *standard.Payload) { p.Ignored = []string{""} },
		"no path of the type":     func(p *standard.Payload) { p.Type = "" },
		"no path of the time":     func(p *standard.Payload) { p.OccurredAt = "" },
		"no path of the code":     func(p *standard.Payload) { p.Paid.Code = "" },
		"path with a gap":         func(p *standard.Payload) { p.Paid.Amount = "data..amount" },
		"path with a blank":       func(p *standard.Payload) { p.Status = "data status" },
		"path too deep":           func(p *standard.Payload) { p.Merchant = "a.b.c.d.e.f.g.h.i" },
		"refund without payment":  func(p *standard.Payload) { p.Refund.Payment = "" },
		"amount without currency": func(p *standard.Payload) { p.Dispute.Amount = "data.amount" },
		"exponent beyond all":     func(p *standard.Payload) { p.Exponents["BTC"] = 19 },
		"exponent of no currency": func(p *standard.Payload) { p.Exponents["usdt"] = 6 },
	} {
		p := payload()
		change(&p)
		if _, err := standard.New(standard.Config{Signing: signing(oldKey), Payload: p}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCurrency_ISOTableHasNoCodeTwice(t *testing.T) {
	t.Parallel()
	want := map[string]int{"USD": 2, "JPY": 0, "KWD": 3, "CLF": 4, "ISK": 0, "HUF": 2, "ALL": 2, "ZWG": 2, "AED": 2}
	for code, places := range want {
		if _, got, ok := standard.Currency(nil, code); !ok || got != places {
			t.Errorf("%s has %d places (%t), want %d", code, got, ok, places)
		}
	}
	for _, code := range []string{"", "US", "USDX", "XXX", "XAU", "U$D", "USD ", "ſek"} {
		if _, _, ok := standard.Currency(nil, code); ok {
			t.Errorf("%q is taken for a currency of ISO 4217", code)
		}
	}
}

package stripe_test

import (
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/webhook/stripe"
)

// intentEvent is a good event with places that cases replace.
const intentEvent = `{"id":"evt_1","object":"event","type":"payment_intent.succeeded","created":1760000000,"livemode":true,` +
	`"data":{"object":{"id":"pi_1","object":"payment_intent","status":"succeeded","amount_received":500,"currency":"usd",` +
	`"metadata":{"creditonce_deposit":"the-code"}}}}`

const sessionEvent = `{"id":"evt_1","object":"event","type":"checkout.session.completed","created":1760000000,"livemode":true,` +
	`"data":{"object":{"id":"cs_1","object":"checkout.session","payment_status":"paid","amount_total":500,"currency":"usd",` +
	`"payment_intent":"pi_1","client_reference_id":"the-code","metadata":{}}}}`

// edit replaces one piece of a good event, so that each case differs in that piece alone.
type edit struct{ in, old, new string }

func (e edit) body(t *testing.T) []byte {
	t.Helper()
	if strings.Count(e.in, e.old) != 1 {
		t.Fatalf("%q is not once in the event", e.old)
	}
	return []byte(strings.Replace(e.in, e.old, e.new, 1))
}

func TestMap_RefusesWhatTwoReadersCouldReadDifferently(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]edit{
		"amount twice":               {intentEvent, `"amount_received":500`, `"amount_received":500,"amount_received":5`},
		"amount in two cases":        {intentEvent, `"amount_received":500`, `"amount_received":500,"Amount_Received":5`},
		"amount with a folding s":    {intentEvent, `"status":"succeeded"`, `"status":"succeeded","ſtatus":"failed"`},
		"amount under another case":  {intentEvent, `"amount_received"`, `"AMOUNT_RECEIVED"`},
		"amount twice by escape":     {intentEvent, `"amount_received":500`, `"amount_received":500,"amount\u005freceived":5`},
		"type twice":                 {intentEvent, `"created"`, `"type":"customer.created","created"`},
		"livemode twice":             {intentEvent, `"livemode":true`, `"livemode":true,"livemode":false`},
		"livemode in two cases":      {intentEvent, `"livemode":true`, `"livemode":true,"LiveMode":false`},
		"data twice":                 {intentEvent, `"data":`, `"data":{},"data":`},
		"object twice":               {intentEvent, `"data":{`, `"data":{"object":{},`},
		"code twice":                 {intentEvent, `"the-code"`, `"the-code","creditonce_deposit":"other"`},
		"code in two cases":          {intentEvent, `"the-code"`, `"the-code","Creditonce_Deposit":"other"`},
		"currency twice":             {intentEvent, `"currency":"usd"`, `"currency":"usd","currency":"jpy"`},
		"more data behind":           {intentEvent, `"the-code"}}}}`, `"the-code"}}}}{}`},
		"text behind":                {intentEvent, `"the-code"}}}}`, `"the-code"}}}}x`},
		"not UTF-8 in the code":      {intentEvent, "the-code", "the-\xff"},
		"lone surrogate in the code": {intentEvent, "the-code", `the-\ud800`},
		"NUL in the id":              {intentEvent, "pi_1", `pi_\u0000`},
		"newline in the event id":    {intentEvent, "evt_1", `evt_\n`},
	} {
		if got, err := provider(t, stripe.Config{}).Map(nil, e.body(t)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func TestMap_RefusesWhatIsMissingOrOfAnotherKind(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]edit{
		"no event id":            {intentEvent, `"id":"evt_1",`, ``},
		"event id empty":         {intentEvent, `"evt_1"`, `""`},
		"event id a number":      {intentEvent, `"evt_1"`, `1`},
		"event id too long":      {intentEvent, `evt_1`, strings.Repeat("e", 501)},
		"not an event":           {intentEvent, `"object":"event"`, `"object":"list"`},
		"no type":                {intentEvent, `"type":"payment_intent.succeeded",`, ``},
		"no livemode":            {intentEvent, `"livemode":true,`, ``},
		"livemode a text":        {intentEvent, `"livemode":true`, `"livemode":"true"`},
		"livemode null":          {intentEvent, `"livemode":true`, `"livemode":null`},
		"no created":             {intentEvent, `"created":1760000000,`, ``},
		"created a float":        {intentEvent, `1760000000`, `1760000000.5`},
		"created negative":       {intentEvent, `1760000000`, `-1`},
		"created beyond time":    {intentEvent, `1760000000`, `99999999999999999999`},
		"created in year 10000":  {intentEvent, `1760000000`, `253402300800`},
		"account an object":      {intentEvent, `"created"`, `"account":{},"created"`},
		"data null":              {intentEvent, `"data":{"object":`, `"data":null,"x":{"object":`},
		"data a list":            {intentEvent, `"data":{"object":`, `"data":[],"x":{"object":`},
		"object of another kind": {intentEvent, `"object":"payment_intent"`, `"object":"charge"`},
		"intent without id":      {intentEvent, `"id":"pi_1",`, ``},
		"intent not succeeded":   {intentEvent, `"status":"succeeded"`, `"status":"processing"`},
		"no amount":              {intentEvent, `"amount_received":500,`, ``},
		"no currency":            {intentEvent, `"currency":"usd",`, ``},
		"metadata a text":        {intentEvent, `{"creditonce_deposit":"the-code"}`, `"the-code"`},
		"code a number":          {intentEvent, `"the-code"`, `1`},
		"code an object":         {intentEvent, `"the-code"`, `{}`},
		"session status unknown": {sessionEvent, `"payment_status":"paid"`, `"payment_status":"maybe"`},
		"session status missing": {sessionEvent, `"payment_status":"paid",`, ``},
		"async not paid":         {strings.Replace(sessionEvent, `"paid"`, `"unpaid"`, 1), `session.completed`, `session.async_payment_succeeded`},
		"reference a number":     {sessionEvent, `"the-code"`, `17`},
		"intent a list":          {sessionEvent, `"payment_intent":"pi_1"`, `"payment_intent":[]`},
		"no session amount":      {sessionEvent, `"amount_total":500`, `"amount_total":null`},
	} {
		got, err := provider(t, stripe.Config{}).Map(nil, e.body(t))
		if err == nil {
			t.Errorf("%s: read as %+v", name, got)
		} else if strings.Contains(err.Error(), "the-code") || strings.Contains(err.Error(), "pi_1") {
			t.Errorf("%s: the reason repeats the body: %v", name, err)
		}
	}
	for _, body := range []string{"", " ", "null", "[]", `"x"`, "1", "{", `{"id"`, `{"id":}`, `{"id":"evt_1",}`, strings.Repeat(`{"a":`, 20_000)} {
		if _, err := provider(t, stripe.Config{}).Map(nil, []byte(body)); err == nil {
			t.Errorf("%.20q was read", body)
		}
	}
}

func TestMap_TakesWhatDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]edit{
		"unchanged intent":        {intentEvent, `"pi_1"`, `"pi_1"`},
		"unchanged session":       {sessionEvent, `"pi_1"`, `"pi_1"`},
		"unknown fields":          {intentEvent, `"livemode"`, `"new":{"a":[1.5e3,null],"a":2},"livemode"`},
		"merchant's own metadata": {intentEvent, `"the-code"`, `"the-code","Order":"1","order":"2"`},
		"metadata null":           {sessionEvent, `"metadata":{}`, `"metadata":null`},
		"no metadata":             {sessionEvent, `,"metadata":{}`, ``},
		"intent expanded":         {sessionEvent, `"payment_intent":"pi_1"`, `"payment_intent":{"id":"pi_1","object":"payment_intent"}`},
		"account null":            {intentEvent, `"created"`, `"account":null,"created"`},
		"white space around":      {intentEvent, `{"id":"evt_1"`, " \r\n{ \"id\" : \"evt_1\""},
		"names escaped":           {intentEvent, `"amount_received"`, `"amount\u005freceived"`},
	} {
		got, err := provider(t, stripe.Config{}).Map(nil, e.body(t))
		f := got.Facts
		if err != nil || f.Effect != credit.EffectPaid || f.Payment != "pi_1" || f.Code != "the-code" || f.Parts[0].Amount.Decimal() != "5.00" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestMap_FactsThatTheDomainDecidesOn(t *testing.T) {
	t.Parallel()
	p := provider(t, stripe.Config{})
	for name, tc := range map[string]struct {
		edit  edit
		check func(credit.Facts) bool
	}{
		"test mode": {edit{intentEvent, `"livemode":true`, `"livemode":false`}, func(f credit.Facts) bool { return !f.Live }},
		"another merchant": {edit{intentEvent, `"created"`, `"account":"acct_x","created"`},
			func(f credit.Facts) bool { return f.Merchant == "acct_x" }},
		"paid session without intent": {edit{sessionEvent, `"pi_1"`, `null`},
			func(f credit.Facts) bool { return f.Effect == credit.EffectPaid && f.Payment == "" }},
		"unknown type": {edit{intentEvent, `payment_intent.succeeded`, `payment_intent.succeeded.v9`},
			func(f credit.Facts) bool {
				return f.Effect == credit.EffectUnknown && f.Payment == "" && len(f.Parts) == 0
			}},
		"type in another case": {edit{intentEvent, `"payment_intent.succeeded"`, `"Payment_Intent.Succeeded"`},
			func(f credit.Facts) bool { return f.Effect == credit.EffectUnknown }},
		"authorised charge": {edit{strings.Replace(intentEvent, `"object":"payment_intent"`, `"object":"charge","captured":false`, 1),
			`payment_intent.succeeded`, `charge.succeeded`}, func(f credit.Facts) bool { return f.Effect == credit.EffectNone }},
		"negative amount stays negative": {edit{intentEvent, `500`, `-500`}, func(f credit.Facts) bool { return f.Parts[0].Amount.Sign() < 0 }},
	} {
		got, err := p.Map(nil, tc.edit.body(t))
		if err != nil || !tc.check(got.Facts) {
			t.Errorf("%s: %+v, %v", name, got.Facts, err)
		}
	}
}

func TestMap_ReversalsNameTheirPaymentAsWellAsTheyCan(t *testing.T) {
	t.Parallel()
	event := func(kind, object string) string {
		return `{"id":"evt_1","object":"event","type":"` + kind + `","created":1,"livemode":true,"data":{"object":` + object + `}}`
	}
	for name, tc := range map[string]struct {
		body, payment, movement string
		effect                  credit.Effect
		moved                   bool
	}{
		"refund by intent":           {event("refund.created", `{"id":"re_1","object":"refund","amount":5,"currency":"usd","payment_intent":"pi_1","charge":"ch_1"}`), "pi_1", "re_1", credit.EffectRefund, true},
		"refund by charge":           {event("refund.failed", `{"id":"re_1","object":"refund","amount":5,"currency":"usd","payment_intent":null,"charge":"ch_1"}`), "ch_1", "re_1", credit.EffectRefund, true},
		"refund, old name":           {event("charge.refund.updated", `{"id":"re_1","object":"refund","amount":5,"currency":"usd","charge":"ch_1"}`), "ch_1", "re_1", credit.EffectRefund, true},
		"refund of a strange amount": {event("refund.created", `{"id":"re_1","object":"refund","amount":5.5,"currency":"usd","payment_intent":"pi_1"}`), "pi_1", "re_1", credit.EffectRefund, false},
		"charge's running total":     {event("charge.refunded", `{"id":"ch_1","object":"charge","amount":9,"amount_refunded":5,"currency":"usd","payment_intent":"pi_1"}`), "pi_1", "", credit.EffectRefund, false},
		"charge without an intent":   {event("charge.refunded", `{"id":"ch_1","object":"charge","amount":9,"amount_refunded":5,"currency":"usd"}`), "ch_1", "", credit.EffectRefund, false},
		"dispute":                    {event("charge.dispute.funds_reinstated", `{"id":"du_1","object":"dispute","amount":5,"currency":"usd","charge":"ch_1"}`), "ch_1", "du_1", credit.EffectDispute, true},
		"dispute without id":         {event("charge.dispute.updated", `{"object":"dispute","amount":5,"currency":"usd","charge":"ch_1"}`), "ch_1", "", credit.EffectDispute, true},
	} {
		got, err := provider(t, stripe.Config{}).Map(nil, []byte(tc.body))
		f := got.Facts
		if err != nil || f.Effect != tc.effect || f.Payment != tc.payment || f.Movement != tc.movement || f.Moved.IsSet() != tc.moved || len(f.Parts) != 0 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for _, kind := range []string{"refund.created", "charge.dispute.created"} {
		object := map[string]string{"refund.created": "refund", "charge.dispute.created": "dispute"}[kind]
		if got, err := provider(t, stripe.Config{}).Map(nil, []byte(event(kind, `{"id":"x_1","object":"`+object+`"}`))); err == nil {
			t.Errorf("%s without a payment: %+v", kind, got)
		}
	}
}

func TestMap_ThinEventIsStoredAsUnknown(t *testing.T) {
	t.Parallel()
	got, err := provider(t, stripe.Config{}).Map(nil, []byte(`{"id":"evt_test_1","object":"v2.core.event","type":"payment_intent.succeeded",
		"livemode":true,"created":"2026-11-30T12:00:00.123Z","related_object":{"id":"pi_1"}}`))
	f := got.Facts
	if err != nil || f.Effect != credit.EffectUnknown || got.MessageKey != "evt_test_1" || !f.Live || f.OccurredAt.Unix() != 1796040000 {
		t.Errorf("%+v, %v", got, err)
	}
}

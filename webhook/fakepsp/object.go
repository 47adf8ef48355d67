package fakepsp

// The objects inside an event, with the fields that receivers read and enough others to look like
// the published samples. Amounts are minor units; times are Unix seconds.

type session struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	AmountSubtotal    int64             `json:"amount_subtotal"`
	AmountTotal       int64             `json:"amount_total"`
	ClientReferenceID *string           `json:"client_reference_id"`
	Created           int64             `json:"created"`
	Currency          string            `json:"currency"`
	Livemode          bool              `json:"livemode"`
	Metadata          map[string]string `json:"metadata"`
	Mode              string            `json:"mode"`
	PaymentIntent     *string           `json:"payment_intent"`
	PaymentStatus     string            `json:"payment_status"`
	Status            string            `json:"status"`
	SuccessURL        string            `json:"success_url"`
}

type intent struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Amount           int64             `json:"amount"`
	AmountCapturable int64             `json:"amount_capturable"`
	AmountReceived   int64             `json:"amount_received"`
	CaptureMethod    string            `json:"capture_method"`
	Created          int64             `json:"created"`
	Currency         string            `json:"currency"`
	LatestCharge     string            `json:"latest_charge"`
	Livemode         bool              `json:"livemode"`
	Metadata         map[string]string `json:"metadata"`
	Status           string            `json:"status"`
}

type charge struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	AmountCaptured int64             `json:"amount_captured"`
	AmountRefunded int64             `json:"amount_refunded"`
	Captured       bool              `json:"captured"`
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Paid           bool              `json:"paid"`
	PaymentIntent  string            `json:"payment_intent"`
	Refunded       bool              `json:"refunded"`
	Status         string            `json:"status"`
}

type refund struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Amount        int64             `json:"amount"`
	Charge        string            `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent string            `json:"payment_intent"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"`
}

type dispute struct {
	ID                  string            `json:"id"`
	Object              string            `json:"object"`
	Amount              int64             `json:"amount"`
	BalanceTransactions []movement        `json:"balance_transactions"`
	Charge              string            `json:"charge"`
	Created             int64             `json:"created"`
	Currency            string            `json:"currency"`
	IsChargeRefundable  bool              `json:"is_charge_refundable"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	PaymentIntent       string            `json:"payment_intent"`
	Reason              string            `json:"reason"`
	Status              string            `json:"status"`
}

type movement struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Fee      int64  `json:"fee"`
	Net      int64  `json:"net"`
	Type     string `json:"type"`
}

type customer struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Created  int64             `json:"created"`
	Livemode bool              `json:"livemode"`
	Metadata map[string]string `json:"metadata"`
}

func metadata(value *string) map[string]string {
	if value == nil {
		return map[string]string{}
	}
	return map[string]string{MetadataKey: *value}
}

func sessionObject(p Payment, paymentStatus string) session {
	s := session{
		ID: p.Session, Object: "checkout.session", AmountSubtotal: p.Amount, AmountTotal: p.Amount,
		ClientReferenceID: carried(p.ClientReference, p.Code), Created: p.Created.Unix(), Currency: p.Currency,
		Livemode: p.Live, Metadata: metadata(carried(p.SessionCode, p.Code)), Mode: "payment",
		PaymentIntent: &p.ID, PaymentStatus: paymentStatus, Status: "complete",
		SuccessURL: "https://portal.example/return?session={CHECKOUT_SESSION_ID}&ok=1",
	}
	if paymentStatus == "no_payment_required" {
		s.PaymentIntent, s.AmountTotal = nil, 0
	}
	return s
}

func intentObject(p Payment, status string, received, capturable int64) intent {
	capture := "automatic_async"
	if capturable > 0 {
		capture = "manual"
	}
	return intent{
		ID: p.ID, Object: "payment_intent", Amount: p.Amount, AmountCapturable: capturable, AmountReceived: received,
		CaptureMethod: capture, Created: p.Created.Unix(), Currency: p.Currency, LatestCharge: p.Charge,
		Livemode: p.Live, Metadata: metadata(carried(p.IntentCode, p.Code)), Status: status,
	}
}

func chargeObject(p Payment, refunded int64) charge {
	return charge{
		ID: p.Charge, Object: "charge", Amount: p.Amount, AmountCaptured: p.Amount, AmountRefunded: refunded,
		Captured: true, Created: p.Created.Unix(), Currency: p.Currency, Livemode: p.Live,
		Metadata: metadata(carried(p.IntentCode, p.Code)), Paid: true, PaymentIntent: p.ID,
		Refunded: refunded >= p.Amount, Status: "succeeded",
	}
}

func refundObject(p Payment, r Refund) refund {
	return refund{
		ID: r.ID, Object: "refund", Amount: r.Amount, Charge: p.Charge, Created: r.Created.Unix(), Currency: p.Currency,
		Metadata: map[string]string{}, PaymentIntent: p.ID, Reason: "requested_by_customer", Status: r.Status,
	}
}

// disputeFee is the fee of the published sample in providers.md §2.1 (amount −25000, fee 1500).
const disputeFee = 1500

func disputeObject(p Payment, d Dispute, action string) dispute {
	out := dispute{
		ID: d.ID, Object: "dispute", Amount: d.Amount, BalanceTransactions: []movement{}, Charge: p.Charge,
		Created: d.Created.Unix(), Currency: p.Currency, IsChargeRefundable: action == "created", Livemode: p.Live,
		Metadata: map[string]string{}, PaymentIntent: p.ID, Reason: "fraudulent", Status: d.Status,
	}
	if action != "created" {
		out.BalanceTransactions = append(out.BalanceTransactions, movement{
			ID: "txn_" + d.ID, Object: "balance_transaction", Amount: -d.Amount, Currency: p.Currency,
			Fee: disputeFee, Net: -d.Amount - disputeFee, Type: "adjustment",
		})
	}
	return out
}

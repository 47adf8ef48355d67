package admin

import (
	"encoding/json"
	"time"
)

// The records of the socket, as JSON. Ids, logins and tickets are text: 64 bits do not survive JavaScript and
// spreadsheets. Times are UTC. A time that there is not is left out.

// Money is an amount as decimal text in its currency.
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// String gives "500.00 USD", or nothing for no amount.
func (m *Money) String() string {
	if m == nil {
		return ""
	}
	return m.Amount + " " + m.Currency
}

// List is one page. Next leads to what follows; empty at the end.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Credit is the row of one payment.
type Credit struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"`
	State      string    `json:"state"`
	Holds      []string  `json:"holds,omitempty"`
	Provider   string    `json:"provider"`
	Merchant   string    `json:"merchant"`
	Payment    string    `json:"payment"`
	Part       string    `json:"part,omitempty"`
	Paid       *Money    `json:"paid,omitempty"`
	PaidAt     time.Time `json:"paid_at,omitzero"`
	Code       string    `json:"code,omitempty"`    // deposit code that came with the payment
	Deposit    string    `json:"deposit,omitempty"` // deposit code that joined
	Client     string    `json:"client,omitempty"`
	Server     string    `json:"server,omitempty"`
	Login      string    `json:"login,omitempty"`
	Amount     *Money    `json:"amount,omitempty"`
	Reference  string    `json:"reference,omitempty"`
	Ticket     string    `json:"ticket,omitempty"`
	Attempt    int       `json:"attempt"`
	HandedOver bool      `json:"handed_over"`
	Restored   bool      `json:"restored"`
	NotDeals   []string  `json:"not_deals,omitempty"` // tickets recorded as not this payment
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	NextAt     time.Time `json:"next_at,omitzero"` // when a loop takes it up
}

// Entry is one line of a credit's history.
type Entry struct {
	Seq      int       `json:"seq"`
	At       time.Time `json:"at"`
	By       string    `json:"by"`
	Actor    string    `json:"actor"`
	Move     string    `json:"move"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Reason   string    `json:"reason,omitempty"`
	Event    string    `json:"event,omitempty"`
	Proposal string    `json:"proposal,omitempty"`
	Look     *Look     `json:"look,omitempty"`
	Call     *Call     `json:"call,omitempty"`
	Deal     *Deal     `json:"deal,omitempty"`
}

// Look is what one look at MT5 gave.
type Look struct {
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason,omitempty"`
	At       time.Time `json:"at"`
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Deals    int       `json:"deals"`
	Tickets  []string  `json:"tickets,omitempty"`
	Complete bool      `json:"complete"`
}

// Call is what one balance call gave.
type Call struct {
	Attempt int    `json:"attempt"`
	Outcome string `json:"outcome"`
	Code    string `json:"code,omitempty"`
	Ticket  string `json:"ticket,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Deal is a balance operation as MT5 has it. Its amount is signed.
type Deal struct {
	Ticket  string `json:"ticket"`
	Login   string `json:"login"`
	Action  int    `json:"action"`
	Amount  *Money `json:"amount,omitempty"`
	Comment string `json:"comment"`
	Dealer  string `json:"dealer"`
}

// CreditDetail is a credit with all that is known about it.
type CreditDetail struct {
	Credit    Credit     `json:"credit"`
	Deposit   *Deposit   `json:"deposit,omitempty"`
	Tasks     []Task     `json:"tasks"`     // open ones about it
	Proposals []Proposal `json:"proposals"` // open ones about it
	History   []Entry    `json:"history"`
}

// Deposit is the record that the firm's own server made, with its derived state.
type Deposit struct {
	Code      string    `json:"code"`
	State     string    `json:"state"`
	Client    string    `json:"client"`
	Server    string    `json:"server"`
	Login     string    `json:"login"`
	Provider  string    `json:"provider"`
	Paid      *Money    `json:"paid"`
	Credited  *Money    `json:"credited"`
	Owner     string    `json:"owner"`
	Credit    string    `json:"credit,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	ClosedBy  string    `json:"closed_by,omitempty"`
}

// DepositDetail is a deposit with the credit that took it.
type DepositDetail struct {
	Deposit Deposit `json:"deposit"`
	Credit  *Credit `json:"credit,omitempty"`
	Tasks   int     `json:"open_tasks"`        // about that credit
	History []Entry `json:"history,omitempty"` // of that credit
}

// Event is one verified notification, without its body.
type Event struct {
	ID         string            `json:"id"`
	Provider   string            `json:"provider"`
	Merchant   string            `json:"merchant"`
	MessageKey string            `json:"message_key"`
	Type       string            `json:"type"`
	Effect     string            `json:"effect"`
	Payment    string            `json:"payment,omitempty"`
	Amount     *Money            `json:"amount,omitempty"` // of its first part
	Code       string            `json:"code,omitempty"`
	Status     string            `json:"status,omitempty"`
	Problem    string            `json:"problem,omitempty"`
	Credits    []string          `json:"credits,omitempty"`
	Digest     string            `json:"digest"`
	Headers    map[string]string `json:"headers,omitempty"`
	OccurredAt time.Time         `json:"occurred_at,omitzero"`
	ReceivedAt time.Time         `json:"received_at"`
}

// EventDetail is an event with its body: as text where it is UTF-8, else in base64.
type EventDetail struct {
	Event      Event  `json:"event"`
	Body       string `json:"body,omitempty"`
	BodyBase64 []byte `json:"body_base64,omitempty"`
}

// Task is one discrepancy for a person.
type Task struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Subject  string    `json:"subject"`
	Summary  string    `json:"summary"`
	Next     string    `json:"next"`
	Assigned string    `json:"assigned,omitempty"`
	OpenedAt time.Time `json:"opened_at"`
	ClosedAt time.Time `json:"closed_at,omitzero"`
	ClosedBy string    `json:"closed_by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Records  []Record  `json:"records,omitempty"`
	Notes    []Note    `json:"notes,omitempty"`
}

// TaskDetail is a task with what it is about.
type TaskDetail struct {
	Task       Task          `json:"task"`
	Credit     *CreditDetail `json:"credit,omitempty"`
	Difference *Difference   `json:"difference,omitempty"` // of a difference that reconciliation found
}

// Difference is what the newest run that showed a difference showed of it: the provider's lines, the credits and the deals, each brought to the
// same fields.
type Difference struct {
	Run   string          `json:"run"`
	First string          `json:"first"` // business days of the run
	Last  string          `json:"last"`
	Title string          `json:"title"`          // of the class, in a few words
	Means string          `json:"means"`          // what the three lists say
	Do    string          `json:"do"`             // what a person does about it
	Item  json.RawMessage `json:"item"`           // as it stands in the run's report in JSON
	Text  string          `json:"text,omitempty"` // all of it for a terminal; only where a width was asked for
}

// Record is one side of a discrepancy.
type Record struct {
	Source string  `json:"source"`
	Fields []Field `json:"fields"`
}

// Field is one named value of a record.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Note is what a person wrote on a task.
type Note struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Text string    `json:"text"`
}

// Account is a registered login.
type Account struct {
	Server    string    `json:"server"`
	Login     string    `json:"login"`
	Client    string    `json:"client"`
	Currency  string    `json:"currency"`
	Digits    int       `json:"digits"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

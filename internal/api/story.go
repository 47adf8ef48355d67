package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// creditBody is a credit on the wire: what became of one payment. Evidence of calls and looks, tokens and raw events
// are for operators alone.
type creditBody struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind"`
	State     string     `json:"state"`
	Holds     []holdBody `json:"holds"` // why it waits; empty unless state is held
	Limit     *limitBody `json:"limit,omitempty"`
	Deposit   string     `json:"deposit,omitempty"` // code; absent until a deposit is known
	Client    string     `json:"client,omitempty"`
	Server    string     `json:"server,omitempty"`
	Login     string     `json:"login,omitempty"`
	Provider  string     `json:"provider"`
	Payment   string     `json:"payment"`        // the provider's id
	Part      string     `json:"part,omitempty"` // of a payment with several parts
	Paid      moneyBody  `json:"paid"`
	PaidAt    time.Time  `json:"paid_at"`            // the provider's time
	Credited  *moneyBody `json:"credited,omitempty"` // absent until a deposit is known
	Reference string     `json:"reference,omitempty"`
	Ticket    string     `json:"ticket,omitempty"` // the MT5 deal; absent until state is done
	Attempts  int        `json:"attempts"`         // calls to MT5 that were claimed
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// holdBody is one reason why a credit waits.
type holdBody struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// limitBody is the limit that holds a credit, as it is configured now.
type limitBody struct {
	Name string    `json:"name"`
	Most moneyBody `json:"most"`
}

// entryBody is one line of a credit's history.
type entryBody struct {
	At     time.Time `json:"at"`
	Move   string    `json:"move"`
	From   string    `json:"from"` // empty at birth
	To     string    `json:"to"`
	Reason string    `json:"reason,omitempty"`
}

// storyBody is a deposit with all that became of its payments.
type storyBody struct {
	Deposit recordBody   `json:"deposit"`
	Credit  *creditBody  `json:"credit"`
	History []entryBody  `json:"history"`
	Further []creditBody `json:"further"`
}

func (a *API) getDepositCredit(c echo.Context, _ Key, _ query) error {
	code := c.Param("code")
	if !credit.ValidCode(code) {
		return noDeposit(nil)
	}
	story, err := a.cfg.Deposits.Story(requestContext(c), code)
	if errors.Is(err, credit.ErrNotFound) {
		return noDeposit(err)
	}
	if err != nil {
		return fmt.Errorf("read a deposit's credit: %w", err)
	}
	out := storyBody{Deposit: recordOnWire(story.DepositView, a.cfg.Now().UTC()), History: []entryBody{}, Further: []creditBody{}}
	if story.Row != nil {
		body := a.creditOnWire(*story.Row)
		out.Credit = &body
	}
	for _, e := range story.History {
		out.History = append(out.History, entryOnWire(e))
	}
	for _, row := range story.Further {
		out.Further = append(out.Further, a.creditOnWire(row))
	}
	body, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("render the credit of deposit %s: %w", code, err)
	}
	return sendTagged(c, body)
}

func (a *API) creditOnWire(c credit.Credit) creditBody {
	out := creditBody{
		ID: number(uint64(c.ID)), Kind: string(c.Kind), State: string(c.State), Holds: []holdBody{},
		Deposit: c.Deposit, Client: c.Client, Server: c.Server, Provider: c.Provider, Payment: c.Unit.Payment, Part: c.Unit.Part,
		Paid: onWire(c.Paid), PaidAt: c.PaidAt.UTC(), Reference: string(c.Reference), Attempts: c.Attempt,
		CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
	}
	for _, h := range c.Holds {
		out.Holds = append(out.Holds, holdBody{string(h), holdText(h)})
	}
	if c.Login != 0 {
		out.Login = number(c.Login)
	}
	if c.Ticket != 0 {
		out.Ticket = number(c.Ticket)
	}
	if c.Amount.IsSet() {
		money := onWire(c.Amount)
		out.Credited = &money
		if most, ok := a.cfg.DayLimit(c.Amount.Currency()); ok && c.HasHold(credit.HoldLimit) {
			out.Limit = &limitBody{limitPerLoginDay, onWire(most)}
		}
	}
	return out
}

// number writes a 64-bit id: as text, because readers cut large numbers to 53 bits.
func number(n uint64) string { return strconv.FormatUint(n, 10) }

// entryOnWire leaves out who acted and on what evidence. What another key did to the login names another client: that
// is not this deposit's business.
func entryOnWire(e credit.Entry) entryBody {
	out := entryBody{At: e.At.UTC(), Move: e.Move, From: string(e.From), To: string(e.To), Reason: e.Reason}
	if strings.HasPrefix(e.Actor, actorPrefix) && strings.HasPrefix(e.Reason, "the login changed") {
		out.Reason = "the login's registration changed"
	}
	return out
}

// holdText says why a credit waits, in a sentence that the firm's own support can read.
func holdText(h credit.Hold) string {
	switch h {
	case credit.HoldNoDeposit:
		return "no deposit with the payment's code is known"
	case credit.HoldExpired:
		return "it was paid after the deposit had expired"
	case credit.HoldClosed:
		return "it was paid after the deposit had been closed"
	case credit.HoldProvider:
		return "it came from a provider that the deposit does not name"
	case credit.HoldSecondPart:
		return "another payment has taken the deposit already"
	case credit.HoldEnteredTwice:
		return "people may have entered the payment by hand as well"
	case credit.HoldAmount:
		return "the amount received is not the deposit's"
	case credit.HoldCurrency:
		return "it was paid in another currency than the deposit's"
	case credit.HoldOwnership:
		return "the login does not belong to the deposit's client, or not any more"
	case credit.HoldAccount:
		return "the MT5 account is not as registered (existence, currency, digits or group)"
	case credit.HoldServer:
		return "the deposit's MT5 server is not configured any more"
	case credit.HoldLimit:
		return "it takes the login over its limit of the UTC day"
	case credit.HoldReversal:
		return "a refund or dispute of the payment is known"
	case credit.HoldCode:
		return "what the provider says names different deposits"
	case credit.HoldLookAlike:
		return "MT5 has a deal that may be this payment, credited by hand"
	case credit.HoldConflict:
		return "MT5 has something different under this credit's reference"
	case credit.HoldPreCutover:
		return "the payment is from before the service went live"
	case credit.HoldRestored:
		return "a backup was restored; a person confirms what it may have lost"
	case credit.HoldByHand:
		return "a person has stopped it"
	case credit.HoldUnknownLogin:
		return "MT5 does not know the login"
	default:
		return "a person must look at it"
	}
}

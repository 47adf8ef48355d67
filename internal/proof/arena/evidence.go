package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/internal/invariant"
	"creditonce/mt5/fakemt5"
	"creditonce/store"
	"creditonce/webhook/fakepsp"
)

// Gather reads the files that nobody writes any more: the provider's journal, MT5's, the store in data and the log.
func (w *World) Gather(ctx context.Context, data string) (*invariant.World, error) {
	out := &invariant.World{
		Missing: invariant.Calls, Quiescent: true, OneClock: true, Now: time.Now().UTC(), Environment: "test", Dealer: managerLogin,
		Quarantine: w.timing.Quarantine, SecondLook: w.timing.SecondLook, Lease: w.timing.Lease,
	}
	return out, errors.Join(w.readMT5(out), w.readProvider(out), w.readLog(out), readStore(ctx, app.StorePath(w.Path(data)), out))
}

func (w *World) readMT5(out *invariant.World) error {
	entries, err := fakemt5.ReadJournal(w.Path("mt5.jsonl"))
	if err != nil {
		return err
	}
	// What came on a connection of before a restore was called before it, however late it was carried out.
	var before, after []invariant.Deal
	for _, e := range entries {
		if e.Source != fakemt5.SourceAPI {
			continue
		}
		amount, err := credit.Minor(e.Minor, e.Currency, e.Digits)
		if err != nil {
			return fmt.Errorf("deal %d of MT5's journal: %w", e.Ticket, err)
		}
		d := invariant.Deal{Server: mt5Identity, Ticket: e.Ticket, Login: e.Login, Action: e.Action, Amount: amount, Comment: e.Comment, Dealer: e.Dealer}
		if len(w.restores) > 0 && e.Conn <= w.restores[0].conn {
			before = append(before, d)
		} else {
			after = append(after, d)
		}
	}
	for _, r := range w.restores {
		r.Deals = len(before)
		out.Restores = append(out.Restores, r.Restore)
	}
	out.Deals = append(before, after...)
	return nil
}

// readProvider puts down each attempt when it began, and the answer that was read, if any was.
func (w *World) readProvider(out *invariant.World) error {
	records, err := fakepsp.ReadJournal(w.Path("provider.jsonl"))
	if err != nil {
		return err
	}
	type attempt struct {
		event            string
		delivery, number int
	}
	at := map[attempt]int{}
	for _, r := range records {
		if r.Attempt == nil {
			continue
		}
		a := attempt{r.Attempt.Event, r.Attempt.Delivery, r.Attempt.Number}
		if r.Attempt.Started {
			at[a] = len(out.Sent)
			out.Sent = append(out.Sent, invariant.Delivery{Provider: Provider, MessageKey: a.event, Signed: true, At: r.At})
			continue
		}
		i, ok := at[a]
		if !ok {
			return fmt.Errorf("the provider's journal has an answer to attempt %d of %s that never began", a.number, a.event)
		}
		out.Sent[i].Status = r.Attempt.Status
	}
	return nil
}

// readLog takes what the program has said, and what must be in no line of it.
func (w *World) readLog(out *invariant.World) error {
	text, err := os.ReadFile(w.Path("serve.log"))
	if err != nil {
		return err
	}
	out.Log = strings.Split(string(text), "\n")
	for _, name := range []string{"webhook", "mt5-manager", "api-accounts", "api-deposits"} {
		secret, err := os.ReadFile(w.Path("secrets", name))
		if err != nil {
			return err
		}
		out.Secrets = append(out.Secrets, strings.TrimSpace(string(secret)))
	}
	return nil
}

const most = 100_000

func readStore(ctx context.Context, path string, out *invariant.World) (err error) {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	report, err := db.Verify(ctx, nil)
	if err != nil {
		return fmt.Errorf("verify the store: %w", err)
	}
	out.Findings = report.Findings
	var errs [5]error
	out.Settings, errs[0] = db.Settings(ctx)
	out.Events, errs[1] = db.Events(ctx, 0, most)
	out.Tasks, errs[2] = db.Tasks(ctx, store.TaskQuery{Limit: most})
	var rows []credit.Credit
	rows, errs[3] = db.Rows(ctx, credit.RowQuery{Limit: most})
	for _, row := range rows {
		history, err := db.History(ctx, row.ID)
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, invariant.Row{Credit: row, History: history})
	}
	errs[4] = readDeposits(ctx, db, out)
	return errors.Join(errs[:]...)
}

func readDeposits(ctx context.Context, db *store.DB, out *invariant.World) error {
	deposits, accounts := credit.DepositQuery{Limit: 100, Now: out.Now}, credit.AccountQuery{Limit: 100}
	for more := true; more; {
		page, err := db.Deposits(ctx, deposits)
		if err != nil {
			return err
		}
		for _, v := range page.Items {
			out.Deposits = append(out.Deposits, v.Deposit)
		}
		deposits.After, more = page.Next, page.Next != nil
	}
	page, err := db.Accounts(ctx, accounts)
	out.Accounts = page.Items
	return err
}

// Judge says what does not fit together: every invariant, and, believing neither the store nor the comments of the deals,
// what the portal and the client know. A panic of the program is one thing of them.
func (w *World) Judge(world *invariant.World) []string {
	wrong := append([]string(nil), w.panics...)
	for _, v := range invariant.Check(*world) {
		wrong = append(wrong, v.String())
	}
	return append(wrong, w.askClients(world)...)
}

// askClients holds MT5's deals against the deposits by the amounts, which no two deposits share, and sees that each payment
// has one row, at the end.
func (w *World) askClients(world *invariant.World) (wrong []string) {
	owner, count := map[int64]*deposit{}, map[*deposit]int{}
	for _, d := range w.deposits {
		owner[d.minor] = d
	}
	for _, deal := range world.Deals {
		d := owner[deal.Amount.Units().Int64()]
		switch {
		case d == nil:
			wrong = append(wrong, fmt.Sprintf("deal %d of %s on login %d: no deposit is of that amount", deal.Ticket, deal.Amount, deal.Login))
		case deal.Login != d.Login || deal.Amount.Currency() != d.Currency:
			wrong = append(wrong, fmt.Sprintf("deal %d of deposit %s is on login %d in %s, not on %d in %s",
				deal.Ticket, d.code, deal.Login, deal.Amount.Currency(), d.Login, d.Currency))
		default:
			if count[d]++; count[d] > d.most() {
				wrong = append(wrong, fmt.Sprintf("deposit %s (%s) was credited %d times", d.code, d.way, count[d]))
			}
		}
	}
	rows, entered := map[string]int{}, map[string]int{}
	for i := range world.Rows {
		rows[world.Rows[i].Credit.Unit.Payment]++
		entered[world.Rows[i].Credit.Deposit]++
	}
	for _, d := range w.deposits {
		for _, p := range d.payments {
			n := rows[p]
			if d.way == wired { // its payment has an id of the store's own
				n = entered[d.code]
			}
			if n > 1 || n == 0 && world.Quiescent {
				wrong = append(wrong, fmt.Sprintf("payment %s of deposit %s (%s) has %d rows", p, d.code, d.way, n))
			}
		}
	}
	return wrong
}

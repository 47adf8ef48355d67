package demo

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// booksScene is about what the steps before let through: the provider's statement, the store and MT5 side by side.
func booksScene() scenario {
	return scenario{
		name: "reconciliation", deposits: 6, play: playBooks, after: compareBooks,
		once:  []string{"settled_without_credit", "duplicate_reference", "wrong_amount"},
		story: "The provider settled a payment that nobody knows, MT5 has one deal twice, one amount differs: the daily comparison finds exactly these three.",
	}
}

// lostPayment is settled by the provider and known to nobody else.
const lostPayment = "pi_demoSettledAndUnknown"

func playBooks(ctx context.Context, s *show) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	var rows []string
	for i, d := range s.deposits {
		p, err := s.pay(ctx, d, fakepsp.PaymentRequest{})
		if err != nil {
			return err
		}
		paid := d.paid
		if i == s.n-1 {
			paid.minor += scale(paid.digits) // one whole unit more than was paid
		}
		rows = append(rows, settledRow(s.o.Now(), p.ID, paid))
	}
	if err := s.credited(ctx, s.deposits...); err != nil {
		return err
	}
	rows = append(rows, settledRow(s.o.Now(), lostPayment, money{4200, "USD", 2}))
	text := "balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id\n" + strings.Join(rows, "")
	s.board.tell("provider", "the statement has %d payments, one of them unknown, one with another amount", len(rows))
	return os.WriteFile(s.stage.statement(), []byte(text), 0o600)
}

// settledRow is one payment in the provider's statement, without a fee.
func settledRow(at time.Time, payment string, paid money) string {
	when := at.UTC().Format(time.DateTime)
	return fmt.Sprintf("txn_%[1]s,%[2]s,%[2]s,%[3]s,%[4]s,0,%[4]s,charge,ch_%[1]s,ch_%[1]s,%[1]s\n", payment, when, strings.ToLower(paid.currency), paid)
}

// compareBooks lays the three lists side by side and wants exactly what was planted.
func compareBooks(ctx context.Context, s *show, c *config.Config) error {
	deals, err := s.dealsNow()
	if err != nil {
		return err
	}
	if len(deals) == 0 { // cut short: the verdict says what is missing
		return nil
	}
	twin := deals[0]
	for _, d := range deals {
		if d.Login != s.deposits[s.n-1].login { // the last deposit has a difference of its own
			twin = d
			break
		}
	}
	if _, err := s.mt5.AddDeal(ctx, fakemt5.ManualDeal{Login: twin.Login, Action: twin.Action, Amount: twin.Amount, Comment: twin.Comment}); err != nil {
		return fmt.Errorf("book a deal a second time: %w", err)
	}
	s.board.tell("MT5", "deal %d is there a second time, made by hand", twin.Ticket)
	path, err := s.reportPath()
	if err != nil {
		return err
	}
	found, err := app.ReconcileDemo(ctx, c, app.DemoBooks{Provider: pspLabel, Statement: s.stage.statement(), From: s.begin, Report: path})
	if err != nil {
		return fmt.Errorf("compare the books: %w", err)
	}
	s.report = path
	for _, why := range found.Incomplete {
		s.problem("the comparison is not complete: %s", why)
	}
	want := map[string]int{}
	for _, class := range s.scene.once {
		want[class] = 1
	}
	have := maps.Clone(found.Classes)
	delete(have, "matched")
	if !maps.Equal(have, want) {
		s.problem("the comparison found %v, planted were %v", have, want)
	}
	s.board.tell("demo", "the comparison found %d differences; the report: %s", len(have), path)
	return nil
}

// reportPath is where the report stays, also when the folder of the show does not.
func (s *show) reportPath() (string, error) {
	if s.kept() {
		return s.stage.path("reconciliation.html"), nil
	}
	f, err := os.CreateTemp("", "creditonce-demo-reconciliation-*.html")
	if err != nil {
		return "", fmt.Errorf("make the report: %w", err)
	}
	return f.Name(), f.Close()
}

package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"creditonce/internal/admin"
	"creditonce/internal/app"
	"creditonce/internal/cli"
	"creditonce/internal/desk"
	"creditonce/internal/proof/arena"
	"creditonce/recon"
	"creditonce/store"
)

// deed is what people do with a command while the program works, and the program is killed in it.
type deed struct {
	first func(context.Context) error // must end with an error when the program dies
	again func(context.Context) error // what people do once it runs again, and what must hold then
}

// interrupted lets the program die in a deed, starts it again, and lets people do it again.
func (w life) interrupted(ctx context.Context, c cycle) error {
	d := w.deed(c)
	err := errors.Join(w.Start(ctx, arena.Life{Point: fmt.Sprintf("kill@%s#%d", c.at, c.nth)}), arena.Pause(ctx, c.load))
	if err != nil {
		return err
	}
	answered := d.first(ctx) == nil
	if err := w.died(ctx, c); err != nil {
		return err
	}
	if answered {
		return fmt.Errorf("the command was answered as done, and the program died in it")
	}
	if err := errors.Join(w.Start(ctx, arena.Life{}), d.again(ctx)); err != nil {
		return err
	}
	w.Serve.Kill()
	return nil
}

// died waits for the program to die at its fault point: with nobody but the harness working there, nothing else may come.
func (w life) died(ctx context.Context, c cycle) error {
	if _, err := w.Serve.Wait(ctx, reach); err != nil {
		return fmt.Errorf("%s was not passed: %w", c.at, err)
	}
	if code := w.Serve.Code(); code != -1 {
		return fmt.Errorf("serve ended with exit code %d, not at its fault point:\n%s", code, w.Serve.Last())
	}
	w.seen[c.at]++
	w.seen[string(c.fault)]++
	return nil
}

func (w life) deed(c cycle) deed {
	switch c.fault {
	case importAt:
		return w.importing(c)
	case runAt:
		return w.comparing(c)
	case approveAt:
		return w.approving(c)
	default:
		return w.backingUp(c)
	}
}

// backingUp takes a copy through the service. What a killed one leaves is nobody's backup, and is gone after the next.
func (w life) backingUp(c cycle) deed {
	name := fmt.Sprintf("b%d.db", c.number)
	return deed{
		first: func(ctx context.Context) error { _, err := w.As(ctx, w.maker, "backup", name); return err },
		again: func(ctx context.Context) error {
			return w.backedUp(ctx, name, func(name string) error { _, err := w.As(ctx, w.maker, "backup", name); return err })
		},
	}
}

// backedUp sees that a backup which was killed is whole or not there, and that the next one is.
func (w life) backedUp(ctx context.Context, name string, backup func(name string) error) error {
	folder := w.Path("store-backups")
	if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
		if backup(name) == nil {
			return fmt.Errorf("a backup was written over %s", name)
		}
		if _, err := store.VerifyFile(ctx, filepath.Join(folder, name), nil); err != nil {
			return fmt.Errorf("what has a backup's name: %w", err)
		}
		name += ".2"
	}
	if err := backup(name); err != nil {
		return err
	}
	if _, err := store.VerifyFile(ctx, filepath.Join(folder, name), nil); err != nil {
		return err
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(left) > 0 {
		return fmt.Errorf("left in the backup folder: %v, %w", left, err)
	}
	return nil
}

// backUpAlone takes a copy while nothing runs, and the command is killed in it.
func (w life) backUpAlone(ctx context.Context, c cycle) error {
	if err := errors.Join(w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load)); err != nil {
		return err
	}
	w.Serve.Kill()
	name := fmt.Sprintf("b%d.db", c.number)
	if err := w.killedCommand(ctx, c, "backup", name); err != nil {
		return err
	}
	w.seen[string(c.fault)]++
	return w.backedUp(ctx, name, func(name string) error { return w.Command(ctx, "backup", name) })
}

// killedCommand runs a command that works on the store itself, to its fault point.
func (w life) killedCommand(ctx context.Context, c cycle, args ...string) error {
	err := w.CommandAt(ctx, fmt.Sprintf("kill@%s#%d", c.at, c.nth), args...)
	var ended *arena.Refused
	if !errors.As(err, &ended) || ended.Code != -1 {
		return fmt.Errorf("creditonce %s did not die at %s: %w", args[0], c.at, err)
	}
	w.seen[c.at]++
	return nil
}

// raise makes the store one of the schema before, and lets the program die while it changes that.
func (w life) raise(ctx context.Context, c cycle) error {
	if err := errors.Join(w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load)); err != nil {
		return err
	}
	w.Serve.Kill()
	path := app.StorePath(w.Path("store"))
	if err := lower(path); err != nil {
		return fmt.Errorf("make the store one of the schema before: %w", err)
	}
	if err := w.Start(ctx, arena.Life{Point: fmt.Sprintf("kill@%s#%d", c.at, c.nth)}); err != nil {
		return err
	}
	if err := w.died(ctx, c); err != nil {
		return err
	}
	if err := errors.Join(w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load)); err != nil {
		return err
	}
	w.Serve.Kill()
	kept, err := store.VerifyFile(ctx, path, nil)
	if err != nil {
		return fmt.Errorf("the store after the change: %w", err)
	}
	before, err := os.Stat(path + ".schema-2")
	if err != nil || before.Size() == 0 || kept.StoreID == "" {
		return fmt.Errorf("the file of before the change: %v, %w", before, err)
	}
	return nil
}

const linesOfImport = 900 // three pieces, each a transaction

// importing imports a statement of three pieces. Whatever of them a kill leaves counts nowhere, and the same file again is
// one statement with every line once.
func (w life) importing(c cycle) deed {
	name := fmt.Sprintf("fees%d.csv", c.number)
	take := func(ctx context.Context) error { return w.importStatement(ctx, name, feeLines(c.number)) }
	return deed{first: take, again: func(ctx context.Context) error {
		if err := take(ctx); err != nil {
			return err
		}
		out, err := w.As(ctx, w.maker, "recon", "statements", "-o", "json")
		if err != nil {
			return err
		}
		var known struct{ Items []admin.ReconStatement }
		if err := json.Unmarshal(out, &known); err != nil {
			return fmt.Errorf("read the list of statements: %w\n%s", err, out)
		}
		found := slices.DeleteFunc(known.Items, func(s admin.ReconStatement) bool { return s.Statement.Name != name })
		if len(found) != 1 || found[0].Statement.Rows != linesOfImport || found[0].Stored != linesOfImport || found[0].Duplicates != 0 {
			return fmt.Errorf("of %s with %d lines the store has %+v", name, linesOfImport, found)
		}
		return nil
	}}
}

// yesterday is a business day that is over however long a round takes.
func yesterday() time.Time { return time.Now().UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour) }

const statementHead = "balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id," +
	"automatic_payout_id,automatic_payout_effective_at_utc\n"

// feeLines is a statement of fees alone.
func feeLines(number int) string {
	at := yesterday().Add(12 * time.Hour).Format(time.DateTime)
	var b strings.Builder
	b.WriteString(statementHead)
	for i := range linesOfImport {
		fmt.Fprintf(&b, "txn_fee_%d_%d,%s,%s,usd,-0.01,0.00,-0.01,fee,,,,,\n", number, i, at, at)
	}
	return b.String()
}

// lost is a settled payment of which nothing else knows, the i-th of a cycle.
func lost(number, i int) string { return fmt.Sprintf("pi_lost_%d_%d", number, i) }

const lostPayments = 5

func lostLines(number int) string {
	at := yesterday().Add(13 * time.Hour).Format(time.DateTime)
	var b strings.Builder
	b.WriteString(statementHead)
	for i := range lostPayments {
		id := lost(number, i)
		fmt.Fprintf(&b, "txn_%s,%s,%s,usd,20.00,1.00,19.00,charge,ch_%s,ch_%s,%s,,\n", id, at, at, id, id, id)
	}
	return b.String()
}

// importStatement imports a file as a person. That something in it needs an answer (exit code 3) is no failure.
func (w life) importStatement(ctx context.Context, name, text string) error {
	path := w.Path("people", name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // the person whose command reads it has another account
		return err
	}
	_, err := w.As(ctx, w.maker, "recon", "import", path, "--provider", arena.Provider)
	return orFound(err)
}

// orFound takes away that a person must look at something, which is what the command was for.
func orFound(err error) error {
	var ended *arena.Refused
	if errors.As(err, &ended) && ended.Code == cli.ExitFound {
		return nil
	}
	return err
}

// comparing runs the reconciliation over a day with settled payments that nobody has credited. However often it was killed,
// each has one open task.
func (w life) comparing(c cycle) deed {
	day := yesterday().Format(time.DateOnly)
	run := func(ctx context.Context) error {
		_, err := w.As(ctx, w.maker, "recon", "run", "--day", day)
		return orFound(err)
	}
	first := func(ctx context.Context) error {
		if err := w.importStatement(ctx, fmt.Sprintf("lost%d.csv", c.number), lostLines(c.number)); err != nil {
			return fmt.Errorf("before the run: %w", err)
		}
		return run(ctx)
	}
	return deed{first: first, again: func(ctx context.Context) error {
		if err := run(ctx); err != nil {
			return err
		}
		out, err := w.As(ctx, w.maker, "tasks", "list", "--kind", string(recon.SettledWithoutCredit), "-o", "json")
		if err != nil {
			return err
		}
		for i := range lostPayments {
			if n := bytes.Count(out, []byte("/"+lost(c.number, i)+`"`)); n != 1 {
				return fmt.Errorf("%d open tasks are about %s:\n%s", n, lost(c.number, i), out)
			}
		}
		return nil
	}}
}

// approving enters a bank wire, which takes two people. Whatever they saw of it before the kill, they do all of it again; the
// wire is credited once.
func (w life) approving(c cycle) deed {
	x := w.Expect()
	propose := func(ctx context.Context) error {
		_, err := w.As(ctx, w.maker, "deposit", "manual", "--client", x.Client, "--server", arena.Server, "--login", fmt.Sprint(x.Login),
			"--amount", x.Amount, "--currency", x.Currency, "--bank-reference", x.Bank, "--received-at", time.Now().UTC().Add(-time.Minute).Format(time.RFC3339), "--reason", "a wire")
		return err
	}
	return deed{
		first: func(ctx context.Context) error {
			if err := propose(ctx); err != nil {
				return err
			}
			_, err := w.confirmAll(ctx, x)
			return err
		},
		again: func(ctx context.Context) error {
			before, err := w.proposals(ctx, x)
			if err != nil || len(before) != 1 {
				return fmt.Errorf("%d proposals of the wire %s were kept, %w", len(before), x.Bank, err)
			}
			err = propose(ctx) // nobody was told that it is there
			if done := before[0].State == string(desk.ProposalConfirmed); done != (err != nil) {
				return fmt.Errorf("proposed again, with the first one %s: %w", before[0].State, err)
			}
			confirmed, err := w.confirmAll(ctx, x)
			if err != nil {
				return err
			}
			if c.at == desk.StepApproved {
				confirmed++
			}
			if confirmed != 1 {
				return fmt.Errorf("the wire %s was confirmed %d times", x.Bank, confirmed)
			}
			return nil
		},
	}
}

func (w life) proposals(ctx context.Context, x arena.Wire) ([]admin.Proposal, error) {
	out, err := w.As(ctx, w.checker, "proposals", "list", "--all", "-o", "json")
	if err != nil {
		return nil, err
	}
	var known struct{ Items []admin.Proposal }
	if err := json.Unmarshal(out, &known); err != nil {
		return nil, fmt.Errorf("read the proposals: %w\n%s", err, out)
	}
	return slices.DeleteFunc(known.Items, func(p admin.Proposal) bool { return p.Params["bank_reference"] != x.Bank }), nil
}

// confirmAll has the second person confirm every proposal of the wire that there is, and tells how many were done.
func (w life) confirmAll(ctx context.Context, x arena.Wire) (done int, err error) {
	known, err := w.proposals(ctx, x)
	for _, p := range known {
		_, refused := w.As(ctx, w.checker, "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "seen at the bank")
		var ended *arena.Refused
		switch {
		case refused == nil:
			done++
		case !errors.As(refused, &ended) || ended.Code != cli.ExitRefused:
			return done, refused
		}
		if refused == nil || p.State == string(desk.ProposalConfirmed) {
			w.Entered(x, p.Params["code"])
		}
	}
	return done, err
}

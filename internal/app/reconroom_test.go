package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/recon"
	"creditonce/store"
)

// With little room the reconciliation stops and says so; payments go on, and nothing of a refused file stays.
func TestK2_WithLittleRoom_ReconciliationStopsAndPaymentsGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(text string) string {
		return settled(strings.Replace(text, "max_store: 1GiB", "max_store: 34MiB", 1))
	})
	r.start()
	r.people()
	r.account("client-1")
	b := &books{rig: r}
	first := b.paid("500.00", 50000, "key-one-0001")
	b.close()
	_, err := b.Import(t.Context(), person("ada"), admin.ImportWish{Provider: "stripe", Name: "payouts.csv"}, strings.NewReader(b.statement(map[string]string{first: "500.00"})))
	if !errors.Is(err, credit.ErrBusy) || !strings.Contains(err.Error(), "payouts.csv") || !strings.Contains(err.Error(), "in the store") {
		t.Errorf("an import: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(b.load().DataDir, "recon", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := b.service.ReconcileDue(t.Context()); !errors.Is(err, credit.ErrBusy) || !strings.Contains(err.Error(), "space.stop_claims_below") {
		t.Errorf("the run that was due: %v", err)
	}
	if tasks := b.open(credit.TaskReconIncomplete); len(tasks) != 1 || !strings.Contains(tasks[0].Records[0].Fields[0].Value, "less room than payments keep") {
		t.Errorf("tasks: %+v", tasks)
	}
	b.paid("70.00", 7000, "key-two-0001")
}

// A service that is killed in the middle of an import drops what it left at its next start, without anybody's doing.
func TestKilledImport_IsDroppedAtTheNextStart(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	first := b.paid("500.00", 50000, "key-one-0001")
	b.close()
	text := b.statement(map[string]string{first: "500.00"})
	b.halt()
	db, err := store.Open(filepath.Join(b.load().DataDir, "creditonce.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err1 := db.BeginImport(t.Context(), recon.Provider{Label: "stripe", Kind: "stripe", Account: "acct_rig"}, "d1")
	_, err2 := db.BeginRun(t.Context())
	if err := errors.Join(err1, err2, db.Close(t.Context()), os.MkdirAll(filepath.Join(b.load().DataDir, "recon"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.load().DataDir, "recon", "import-77"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	line := b.await("dropped imports and runs that a killed process left unfinished", func(map[string]any) bool { return true })
	if line["dropped"] != 2.0 {
		t.Errorf("%v", line)
	}
	if left, err := filepath.Glob(filepath.Join(b.load().DataDir, "recon", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

package store_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
	"crypto/sha256"
	"encoding/hex"
)

func TestSmoke(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)
	db, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{Strict: true, New: credit.Settings{StoreID: "s", Environment: "test", Mode: credit.ModeLive, ModeAt: now, CreatedAt: now}})
	if err != nil {
		t.Fatal(err)
	}
	usd, _ := credit.Minor(50000, "USD", 2)
	if _, err := db.PutAccount(ctx, credit.Account{Server: "main", Identity: "X-Live", Login: 1001, Client: "c1", Currency: "USD", Digits: 2}, "key", now); err != nil {
		t.Fatal(err)
	}
	rules := credit.DepositRules{IntakeRules: credit.IntakeRules{Now: now, HeldGrace: time.Minute}, Identities: map[string]string{"main": "X-Live"}, Providers: []string{"stripe"}, LongestLife: 48 * time.Hour}
	code := "abcdefghijklmnopqrstuv"
	dr, err := db.MakeDeposit(ctx, credit.NewDeposit{Key: credit.IdempotencyKey{Route: "r", Owner: "o", Key: "k"}, InputHash: []byte("h"), Deposit: credit.Deposit{Code: code, Owner: "o", Client: "c1", Server: "main", Login: 1001, Provider: "stripe", Paid: usd, Credited: usd, ExpiresAt: now.Add(time.Hour)}, Render: func(v credit.DepositView) (credit.Answer, error) {
		return credit.Answer{Status: 201, Body: []byte("x")}, nil
	}}, rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(dr.Answer)
	body := []byte(`{"id":"evt_1"}`)
	sum := sha256.Sum256(body)
	r, err := db.Accept(ctx, credit.Event{Provider: "stripe", Kind: "stripe", Account: "acct", MessageKey: "evt_1", Digest: hex.EncodeToString(sum[:]), Body: body, ReceivedAt: now, Facts: credit.Facts{Type: "paid", Effect: credit.EffectPaid, Payment: "pi_1", Parts: []credit.Part{{Amount: usd}}, Code: code, OccurredAt: now}}, rules.IntakeRules)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 1 || r.Rows[0].After.State != credit.Pending {
		t.Fatalf("%+v", r)
	}
	d, err := db.Dossier(ctx, 1)
	if err != nil || d.Account == nil || d.Deposit == nil {
		t.Fatal(d, err)
	}
	due, err := db.Due(ctx, credit.DueQuery{State: credit.Pending, Server: "main", UpTo: now, Limit: 10})
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	n, err := db.Counts(ctx)
	t.Log(n, err)
	if r, err := db.Verify(ctx, func(a, b int) { t.Log(a, b) }); err != nil || !r.Clean() {
		t.Fatal(r, err)
	}
	if err := db.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

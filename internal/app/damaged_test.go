package app_test

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"creditonce/internal/app"
)

// What verify found must be said, also where the damaged record is one that verify wants to list.
func TestVerify_DamagedRowIsAFindingAndNotAFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000))); status != http.StatusOK {
		t.Fatalf("answered %d", status)
	}
	r.awaitState(code, "done")
	r.halt()
	c := r.load()
	b, err := bolt.Open(filepath.Join(c.DataDir, "creditonce.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = b.Update(func(tx *bolt.Tx) error {
		k, v := tx.Bucket([]byte("credits")).Cursor().First()
		v = bytes.Clone(v)
		v[len(v)/2] ^= 1
		return tx.Bucket([]byte("credits")).Put(bytes.Clone(k), v)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := app.Verify(context.WithoutCancel(t.Context()), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(in.Findings, "\n")
	if !strings.Contains(text, `bucket "credits", key 1: the checksum does not match`) || !strings.Contains(text, "listed") || in.Events != 1 {
		t.Errorf("%d events, findings:\n%s", in.Events, text)
	}
}

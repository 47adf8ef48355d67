package store_test

import (
	"bytes"
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
)

// FuzzSeal: a sealed value gives back its payload under its own bucket and key, and nothing else: not with one bit
// flipped, a byte lost or added, nor under another key or bucket.
func FuzzSeal(f *testing.F) {
	f.Add("credits", []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte(`{"id":1}`), uint(3))
	f.Add("", []byte{}, []byte{}, uint(0))
	f.Add("a", []byte("b"), []byte("c"), uint(40))
	f.Add("ab", []byte(""), []byte("c"), uint(9))
	f.Fuzz(func(t *testing.T, bucket string, key, payload []byte, at uint) {
		value := store.Seal(bucket, key, payload)
		got, err := store.Unseal(bucket, key, value)
		if err != nil || !bytes.Equal(got, payload) {
			t.Fatalf("%q %x: %q became %q, %v", bucket, key, payload, got, err)
		}
		flipped := bytes.Clone(value)
		bit := at % uint(8*len(value))
		flipped[bit/8] ^= 1 << (bit % 8)
		place := int(at % uint(len(value)))
		for name, bad := range map[string]struct {
			bucket string
			key    []byte
			value  []byte
		}{
			"one bit":        {bucket, key, flipped},
			"a byte lost":    {bucket, key, append(bytes.Clone(value[:place]), value[place+1:]...)},
			"a byte more":    {bucket, key, append(bytes.Clone(value), byte(at))},
			"cut":            {bucket, key, value[:place]},
			"another key":    {bucket, append(bytes.Clone(key), 0), value},
			"another bucket": {bucket + "s", key, value},
		} {
			var damage *store.DamageError
			if got, err := store.Unseal(bad.bucket, bad.key, bad.value); !errors.As(err, &damage) {
				if name == "a byte lost" && bytes.Equal(bad.value, value) {
					continue
				}
				// 32 bits of checksum: a lost or added byte passes once in four thousand million times.
				t.Fatalf("%s at %d of %q: %q, %v", name, at, payload, got, err)
			}
		}
	})
}

// again decodes a payload, encodes it, and wants the same from there on: nothing is lost or made up on the way.
func again[T any](t *testing.T, payload []byte) {
	t.Helper()
	var row, back T
	if store.Decode(payload, &row) != nil {
		return
	}
	first, err := store.Encode(row)
	if err != nil {
		if !errors.Is(err, credit.ErrInvalid) {
			t.Fatalf("%T of %q cannot be written: %v", row, payload, err)
		}
		return
	}
	if err := store.Decode(first, &back); err != nil {
		t.Fatalf("%T: %s cannot be read back: %v", row, first, err)
	}
	second, err := store.Encode(back)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%T: %s became %s, %v", row, first, second, err)
	}
}

// FuzzRow reads payloads as rows of every table. The corpus is what a store holds that has seen a bit of everything.
func FuzzRow(f *testing.F) {
	w, db := world(f, nil)
	fill(w)
	decided(w)
	w.Must(db.Raw(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if payload, err := store.Unseal(string(name), k, v); err == nil {
					f.Add(bytes.Clone(payload))
				}
				return nil
			})
		})
	}))
	w.Must(db.Close(f.Context()))
	for _, s := range []string{`{}`, `null`, `{"id":1}{}`, `{"id":1,"ID":2}`, `{"unknown":1}`, `{"at":"2026-01-01T00:00:00+01:00"}`, `{"reason":"\ufffd"}`, `{"amount":{"minor":"1","currency":"USD","exponent":19}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		again[credit.Credit](t, payload)
		again[credit.Entry](t, payload)
		again[credit.Event](t, payload)
		again[credit.Deposit](t, payload)
		again[credit.Account](t, payload)
		again[credit.Task](t, payload)
		again[credit.Notice](t, payload)
		again[credit.Channel](t, payload)
		again[credit.Settings](t, payload)
		again[desk.Person](t, payload)
		again[desk.Proposal](t, payload)
		again[desk.Record](t, payload)
		again[desk.Key](t, payload)
	})
}

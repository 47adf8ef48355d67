package pages_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"creditonce/store/pages"
)

// sample is a small file with everything in it: a tree of three levels, values that go on over several pages, buckets within values and within buckets,
// free pages.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	b, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true, PageSize: 1024})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{40, 260} {
		err = errors.Join(err, b.Update(func(tx *bolt.Tx) error { return errors.Join(grow(tx, n), shrink(tx)) }))
	}
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func grow(tx *bolt.Tx, n int) error {
	deep, err := tx.CreateBucketIfNotExists([]byte("deep"))
	if err != nil {
		return err
	}
	for i := range n {
		err = errors.Join(err, deep.Put(fmt.Appendf(nil, "a long key that fills its page soon, number %04d", i), []byte{1}))
	}
	long, err2 := tx.CreateBucketIfNotExists([]byte("long"))
	err = errors.Join(err, err2)
	for i := range 4 {
		err = errors.Join(err, long.Put([]byte{'k', byte(i)}, bytes.Repeat([]byte{byte(i)}, 700*(i+1))))
	}
	small, err2 := tx.CreateBucketIfNotExists([]byte("small"))
	err = errors.Join(err, err2, small.Put([]byte("one"), []byte("1")), small.Put([]byte("two"), []byte("2")))
	inner, err2 := deep.CreateBucketIfNotExists([]byte("z inner"))
	err = errors.Join(err, err2, inner.Put([]byte("x"), make([]byte, 300)))
	_, err2 = tx.CreateBucketIfNotExists([]byte("void"))
	return errors.Join(err, err2)
}

func shrink(tx *bolt.Tx) error {
	deep := tx.Bucket([]byte("deep"))
	var err error
	for i := range 30 {
		err = errors.Join(err, deep.Delete(fmt.Appendf(nil, "a long key that fills its page soon, number %04d", i)))
	}
	return err
}

// walkWith lets bbolt check a file and read all of it, and counts what it finds: findings, keys.
func walkWith(path string) (findings, keys int, err error) {
	b, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, err
	}
	err = b.View(func(tx *bolt.Tx) error {
		for range tx.Check() {
			findings++
		}
		if findings > 0 {
			return nil
		}
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
			n, err := readAll(b)
			keys += n
			return err
		})
	})
	return findings, keys, errors.Join(err, b.Close())
}

func readAll(b *bolt.Bucket) (n int, err error) {
	sum := byte(0)
	err = b.ForEach(func(k, v []byte) error {
		n++
		for _, c := range v {
			sum ^= c
		}
		if inner := b.Bucket(k); v == nil && inner != nil {
			more, err := readAll(inner)
			n += more
			return err
		}
		return nil
	})
	return n, err
}

func whole(file []byte) pages.Report {
	return pages.Whole(bytes.NewReader(file), int64(len(file)))
}

func branches(file []byte) pages.Report {
	return pages.Branches(bytes.NewReader(file), int64(len(file)))
}

// Nothing that bbolt writes is called damaged, after any number of puts, deletes, nested buckets and reopenings.
func TestSoundFile_HasNoFindings(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 12 {
		path := filepath.Join(t.TempDir(), "random.db")
		for range 6 {
			change48(t, r, path, &bolt.Options{NoSync: true, PageSize: []int{1024, 4096, 16384}[round%3], NoFreelistSync: round%4 == 3})
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if found := whole(file); !found.Clean() {
				t.Fatalf("whole, round %d: %v", round, found.Findings)
			}
			if found := branches(file); !found.Clean() {
				t.Fatalf("branches, round %d: %v", round, found.Findings)
			}
		}
		if findings, _, err := walkWith(path); findings > 0 || err != nil {
			t.Fatalf("bbolt itself: %d findings, %v", findings, err)
		}
	}
}

func change48(t *testing.T, r *rand.Rand, path string, o *bolt.Options) {
	t.Helper()
	b, err := bolt.Open(path, 0o600, o)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		err = errors.Join(err, b.Update(func(tx *bolt.Tx) error {
			for range 6 {
				if err := change(tx, r); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
}

func change(tx *bolt.Tx, r *rand.Rand) error {
	name := []byte{'b', byte(r.IntN(4))}
	if r.IntN(10) == 0 && tx.Bucket(name) != nil {
		return tx.DeleteBucket(name)
	}
	b, err := tx.CreateBucketIfNotExists(name)
	if err == nil && r.IntN(3) == 0 {
		b, err = b.CreateBucketIfNotExists([]byte("inner"))
	}
	if err != nil {
		return err
	}
	if r.IntN(8) == 0 {
		return empty(b)
	}
	kept, reach := r.IntN(3) > 0, 1+r.IntN(400)
	for range r.IntN(300) {
		k := fmt.Appendf(nil, "%0*d", 1+r.IntN(40), r.IntN(reach))
		if kept {
			err = errors.Join(err, b.Put(k, make([]byte, r.IntN(1+r.IntN(3000)))))
		} else {
			err = errors.Join(err, b.Delete(k))
		}
	}
	return err
}

func empty(b *bolt.Bucket) error {
	var err error
	c := b.Cursor()
	for k, v := c.First(); k != nil && err == nil; k, v = c.First() {
		if v == nil {
			err = b.DeleteBucket(bytes.Clone(k))
		} else {
			err = c.Delete()
		}
	}
	return err
}

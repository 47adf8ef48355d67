package store

import (
	"bytes"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// errPathless ends a check at the findings so far.
var errPathless = errors.New("nothing can be looked up in the file")

// checkPages runs bbolt's own check between two batches, since it reads the list of free pages, which a writer
// changes.
//
// It returns errPathless where nothing else may be read.
func (v *verifier) checkPages() error {
	var findings []string
	pathless := false
	err := v.db.committer.do(v.ctx, &operation{alone: func() error {
		findings, pathless = pageFindings(v.db.bolt, v.db.disk)
		return nil
	}})
	for _, f := range findings {
		v.find("pages: %s", f)
	}
	if pathless && err == nil {
		return errPathless
	}
	return err
}

// checkMeta reads the settings and compares the buckets with the schema.
func (v *verifier) checkMeta() error {
	return v.snapshot("settings", func(tx *bolt.Tx) error {
		if err := checkBuckets(tx); err != nil {
			v.fault(bucketMeta, nil, err)
		}
		var schema schemaRecord
		if err := readMeta(tx, metaSchema, &schema); err != nil {
			v.fault(bucketMeta, metaSchema, err)
		}
		if _, err := readClaims(tx); err != nil {
			v.fault(bucketMeta, metaClaims, err)
		}
		s, err := readSettings(tx)
		if err != nil {
			v.fault(bucketMeta, metaSettings, err)
		}
		v.settings = s
		return nil
	})
}

// count learns how many entries there are, for progress.
func (v *verifier) count() error {
	for _, name := range bucketNames() {
		err := v.snapshot(fmt.Sprintf("bucket %q", name), func(tx *bolt.Tx) error {
			v.total += tx.Bucket([]byte(name)).Stats().KeyN
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCounters counts in one snapshot, over keys only, and compares with the kept counters.
func (v *verifier) checkCounters() error {
	return v.snapshot("counters", func(tx *bolt.Tx) error {
		kept, err := readCounts(tx)
		if err != nil {
			v.fault(bucketCounters, nil, err)
			return nil
		}
		if n := countKeys(tx, events.bucket, nil); n != kept.Events {
			v.find("bucket %q: %d events are counted, there are %d", bucketCounters, kept.Events, n)
		}
		if n := countKeys(tx, taskOpenList.bucket, nil); n != kept.OpenTasks {
			v.find("bucket %q: %d open tasks are counted, there are %d", bucketCounters, kept.OpenTasks, n)
		}
		all := 0
		for _, s := range credit.States() {
			n := countKeys(tx, creditByState.bucket, stateKey(s))
			if all += n; n != kept.Rows[s] {
				v.find("bucket %q: %d rows are counted as %s, there are %d", bucketCounters, kept.Rows[s], s, n)
			}
		}
		if n := countKeys(tx, credits.bucket, nil); n != all {
			v.find("bucket %q: %d rows, %d of them have a state", credits.bucket, n, all)
		}
		return nil
	})
}

func countKeys(tx *bolt.Tx, bucket string, prefix []byte) int {
	n := 0
	c := tx.Bucket([]byte(bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		n++
	}
	return n
}

package kill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
)

// lower makes a store file one of schema version 2, as it was before the reconciliation: without its tables, and with that
// number. Nothing may have been imported or compared yet.
func lower(path string) error {
	b, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	err = b.Update(func(tx *bolt.Tx) error {
		for _, name := range tablesOfReconciliation() {
			if k, _ := tx.Bucket([]byte(name)).Cursor().First(); k != nil {
				return fmt.Errorf("%s is not empty", name)
			}
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), sealed("meta", "schema", `{"version":2}`))
	})
	return errors.Join(err, b.Close())
}

func tablesOfReconciliation() []string {
	return []string{
		"statements", "statement by digest", "statement by provider", "statement unfinished", "settlement lines", "line by place", "line by movement",
		"line superseding", "line repeats", "runs", "run unfinished", "run days", "findings", "discrepancies", "discrepancy standing",
	}
}

// sealed is a value as the store's file keeps it: the number 1, the payload, and a CRC-32C over bucket, key and both.
func sealed(bucket, key, payload string) []byte {
	value := append([]byte{1}, payload...)
	var whole []byte
	for _, part := range []string{bucket, key} {
		whole = append(binary.AppendUvarint(whole, uint64(len(part))), part...)
	}
	return binary.BigEndian.AppendUint32(value, crc32.Checksum(append(whole, value...), crc32.MakeTable(crc32.Castagnoli)))
}

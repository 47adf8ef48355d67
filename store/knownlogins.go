package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/recon"
)

// Anchors lists the logins of an MT5 server, by its own name, on which a deal is known, each with the newest one; ascending, after a login.
func (db *DB) Anchors(ctx context.Context, identity string, after uint64, limit int) (out []recon.KnownLogin, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		prefix := key(nil).text(identity)
		c := tx.Bucket([]byte(anchors.bucket)).Cursor()
		start := loginKey(identity, after)
		k, v := c.Seek(start)
		if bytes.Equal(k, start) {
			k, v = c.Next()
		}
		for ; k != nil && bytes.HasPrefix(k, prefix) && len(out) < limitOf(limit); k, v = c.Next() {
			a, err := anchors.decode(k, v)
			if err != nil {
				return err
			}
			out = append(out, recon.KnownLogin{Login: a.Login, Anchor: &a.Anchor})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the logins of %s: %w", identity, err)
	}
	return out, nil
}

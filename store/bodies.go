package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// largestBody bounds what a stored body may unpack to; the public listener takes 256 KiB.
const largestBody = 64 << 20

// packer compresses bodies. It belongs to one DB: its coders must not outlive a test's bubble.
type packer struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}

func newPacker() (*packer, error) {
	// The fastest level keeps what the default one keeps of a 3 KB body to within one part in a hundred, in two thirds
	// of the time.
	in, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<18), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	out, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(largestBody))
	if err != nil {
		return nil, fmt.Errorf("prepare decompression: %w", err)
	}
	return &packer{in, out}, nil
}

func (p *packer) close() {
	_ = p.in.Close() // nothing is buffered: only whole bodies are coded
	p.out.Close()
}

func (p *packer) pack(body []byte) []byte {
	return p.in.EncodeAll(body, make([]byte, 0, len(body)/2+64)) // room for what most bodies become
}

func (p *packer) unpack(packed []byte) ([]byte, error) { return p.out.DecodeAll(packed, []byte{}) }

// digest is the form of Event.Digest.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// EventBody returns the body of a stored event byte for byte, or ErrNotFound. A body that does not have the
// event's digest is a *DamageError and not returned.
func (db *DB) EventBody(ctx context.Context, id credit.EventID) ([]byte, error) {
	var e credit.Event
	var packed []byte
	err := db.read(ctx, func(tx *bolt.Tx) (err error) {
		if e, err = events.must(tx, idKey(uint64(id))); err != nil {
			return err
		}
		packed, err = packedBody(tx, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read body of event %d: %w", id, err)
	}
	body, err := db.packer.unpack(packed)
	if err == nil && digest(body) != e.Digest {
		err = &DamageError{bucketBodies, idKey(uint64(id)), "the body does not have the event's digest"}
	}
	if err != nil {
		return nil, fmt.Errorf("read body of event %d: %w", id, err)
	}
	return body, nil
}

// packedBody copies the stored body out.
func packedBody(tx *bolt.Tx, id credit.EventID) ([]byte, error) {
	k := idKey(uint64(id))
	v := tx.Bucket([]byte(bucketBodies)).Get(k)
	if v == nil {
		return nil, &DamageError{bucketBodies, k, "the event has no body"}
	}
	packed, err := unseal(bucketBodies, k, v)
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), packed...), nil
}

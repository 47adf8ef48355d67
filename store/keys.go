package store

import (
	"encoding/binary"
	"math"
	"time"
)

// maxKey bounds every key: ids come from providers, and bbolt refuses keys above 32 KiB only in the middle of a
// transaction.
const maxKey = 4096

// key builds the keys of buckets. Texts carry their length, so no content of one part can be taken for the end
// of another; numbers are big-endian, so that keys sort as the numbers do. A built key is a prefix of exactly
// those keys that begin with the same parts.
type key []byte

func (k key) text(s string) key {
	k = binary.AppendUvarint(k, uint64(len(s)))
	return append(k, s...)
}

func (k key) number(n uint64) key { return binary.BigEndian.AppendUint64(k, n) }

// moment appends a time as microseconds, shifted so that times before 1970 (the zero time too) sort first.
func (k key) moment(t time.Time) key { return k.number(uint64(t.UnixMicro()) ^ (1 << 63)) }

// day appends the UTC day of a time.
func (k key) day(t time.Time) key {
	const length = 24 * 60 * 60
	day := t.Unix() / length
	if t.Unix()%length < 0 {
		day--
	}
	return k.number(uint64(day) ^ (1 << 63))
}

// idKey is the key of a numbered row.
func idKey(id uint64) []byte { return key(nil).number(id) }

// keyID reads the id at the end of a key; 0 where the key is too short to hold one.
func keyID(k []byte) uint64 {
	if len(k) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k[len(k)-8:])
}

// momentOf reads the moment in the 8 bytes at the start of b.
func momentOf(b []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(b) ^ (1 << 63))).UTC()
}

// historyKey orders a row's history by its sequence.
func historyKey(credit uint64, seq int) []byte {
	if seq < 0 || seq > math.MaxUint32 {
		seq = 0
	}
	return binary.BigEndian.AppendUint32(key(nil).number(credit), uint32(seq))
}

// instant is the precision of every stored time that the store makes itself or passes on unseen.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

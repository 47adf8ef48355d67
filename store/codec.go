package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"creditonce/credit"
)

// valueVersion leads every value: the form of what follows it.
const valueVersion = 1

// sumLen is the length of the checksum that ends every value.
const sumLen = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// DamageError says that what the file holds is not what was written: a checksum that does not match, a value
// that cannot be decoded, an index entry that leads nowhere. Nothing is guessed from a damaged value.
type DamageError struct {
	Bucket string
	Key    []byte
	Reason string
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("bucket %q, key %s: %s", e.Bucket, keyText(e.Key), e.Reason)
}

// Unwrap makes errors.Is(err, credit.ErrImpossible) true.
func (e *DamageError) Unwrap() error { return credit.ErrImpossible }

// keyText shows a key: a row's number where it is one, else hexadecimal.
func keyText(k []byte) string {
	if len(k) == 8 {
		return fmt.Sprintf("%d", keyID(k))
	}
	const most = 40
	if len(k) > most {
		return fmt.Sprintf("%x...", k[:most])
	}
	return fmt.Sprintf("%x", k)
}

// checksum covers the bucket and the key too, so that a value under another key is as damaged as a changed one.
func checksum(bucket string, k, body []byte) uint32 {
	head := binary.AppendUvarint(make([]byte, 0, len(bucket)+len(k)+4), uint64(len(bucket)))
	head = append(head, bucket...)
	head = binary.AppendUvarint(head, uint64(len(k)))
	head = append(head, k...)
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
}

// seal makes the value of a payload: version, payload, CRC-32C.
func seal(bucket string, k, payload []byte) []byte {
	out := make([]byte, 0, 1+len(payload)+sumLen)
	out = append(out, valueVersion)
	out = append(out, payload...)
	return binary.BigEndian.AppendUint32(out, checksum(bucket, k, out))
}

// unseal checks a value and returns its payload, which aliases the value: decode it before the transaction ends.
func unseal(bucket string, k, value []byte) ([]byte, error) {
	if len(value) < 1+sumLen {
		return nil, &DamageError{bucket, bytes.Clone(k), "the value is too short"}
	}
	body, sum := value[:len(value)-sumLen], binary.BigEndian.Uint32(value[len(value)-sumLen:])
	if checksum(bucket, k, body) != sum {
		return nil, &DamageError{bucket, bytes.Clone(k), "the checksum does not match"}
	}
	if body[0] != valueVersion {
		return nil, &DamageError{bucket, bytes.Clone(k), fmt.Sprintf("the value has version %d, this program writes %d", body[0], valueVersion)}
	}
	return body[1:], nil
}

// encode writes a row as JSON. Text that is not UTF-8 is refused with ErrInvalid: JSON would replace it, and the
// row read back would not be the row that was written (its keys and its history's digests would differ).
func encode(row any) ([]byte, error) {
	b, err := json.Marshal(row)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", row, err)
	}
	if replacesText(b) {
		return nil, fmt.Errorf("encode %T: a text is not UTF-8: %w", row, credit.ErrInvalid)
	}
	return b, nil
}

// replacesText finds the escape \ufffd, which encoding/json writes for bytes that are not UTF-8 and for nothing
// else; a true U+FFFD is written as it is, and a backslash inside a text is itself escaped.
func replacesText(b []byte) bool {
	escape := []byte(`\ufffd`)
	for at := 0; ; {
		i := bytes.Index(b[at:], escape)
		if i < 0 {
			return false
		}
		i += at
		before := 0
		for before < i && b[i-1-before] == '\\' {
			before++
		}
		if before%2 == 0 {
			return true
		}
		at = i + len(escape)
	}
}

// decode reads what encode wrote, strictly: an unknown field would be lost at the next put, so it is an error.
// The result holds no memory of the file.
func decode(payload []byte, row any) error {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(row); err != nil {
		return fmt.Errorf("decode %T: %w", row, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("decode %T: something follows the value", row)
	}
	return nil
}

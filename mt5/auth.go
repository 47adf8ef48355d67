package mt5

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// passwordHash is H of §2: MD5(MD5(UTF-16LE(password)) || "WebAPI"). MD5 is the protocol's choice; it is never
// sent by itself.
func passwordHash(password []byte) ([]byte, error) {
	if !utf8.Valid(password) {
		return nil, errors.New("the manager's password is not UTF-8 text")
	}
	var text []byte
	for _, unit := range utf16.Encode([]rune(string(password))) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	inner := md5.Sum(text)
	clear(text)
	outer := md5.Sum(append(inner[:], "WebAPI"...))
	return outer[:], nil
}

// randAnswer is how either side proves that it knows the password: hex(MD5(H || random)), lower case (§2).
func randAnswer(hash, random []byte) string {
	joined := make([]byte, 0, len(hash)+len(random))
	sum := md5.Sum(append(append(joined, hash...), random...))
	return hex.EncodeToString(sum[:])
}

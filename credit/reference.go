package credit

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Reference is our mark in a deal's comment: prefix, 16 Crockford base32 characters, 2 check characters; 22 of
// the 31 characters that MT5 keeps (design §8; mt5-webapi.md §5). It is a function of the unit alone: a
// restored store, a second instance or a renamed provider arrives at the same reference and finds the deal.
type Reference string

const (
	referenceLen = 22
	crockford    = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// NewReference derives the reference of a unit. environment is "live" or "test", identity the MT5 server's own
// name as it gives it at login.
func NewReference(environment, identity string, kind Kind, u Unit) Reference {
	h := sha256.New()
	for _, part := range []string{"v1", environment, identity, string(kind), u.ProviderKind, u.Account, u.Payment, u.Part} {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)
	text := prefixes[kind] + base32(sum[:10])
	return Reference(text + checkCharacters(text))
}

// base32 writes 10 bytes as 16 Crockford characters, most significant first.
func base32(b []byte) string {
	var out [16]byte
	var acc uint32
	var bits uint
	n := 0
	for _, c := range b {
		acc = acc<<8 | uint32(c)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out[n] = crockford[acc>>bits&31]
			n++
		}
	}
	return string(out[:n])
}

// checkCharacters is CRC-10/ATM (polynomial 0x233, initial value 0) over text, as two base32 characters.
func checkCharacters(text string) string {
	var crc uint16
	for i := range len(text) {
		for bit := 7; bit >= 0; bit-- {
			top := crc >> 9 & 1
			crc = crc << 1 & 0x3ff
			if top != uint16(text[i]>>bit&1) {
				crc ^= 0x233
			}
		}
	}
	return string([]byte{crockford[crc>>5], crockford[crc&31]})
}

// Valid tells whether the text is a whole reference of some unit: known prefix, alphabet, check characters.
func (r Reference) Valid() bool {
	s := string(r)
	if len(s) != referenceLen || !knownPrefix(s[:4]) {
		return false
	}
	for i := 4; i < len(s); i++ {
		if !strings.Contains(crockford, s[i:i+1]) {
			return false
		}
	}
	return checkCharacters(s[:20]) == s[20:]
}

func knownPrefix(p string) bool {
	for _, known := range prefixes {
		if p == known {
			return true
		}
	}
	return false
}

// Damages tells whether a comment that is not this reference may be a cut, altered or mistyped copy of it
// (design §7: that is a conflict, never "absent"). A comment that is another valid reference never is.
func (r Reference) Damages(comment string) bool {
	if !r.Valid() || comment == "" || comment == string(r) || Reference(comment).Valid() {
		return false
	}
	mine, seen := normalForm(string(r)), normalForm(comment)
	if len(seen) >= damageRun && strings.HasPrefix(mine, seen) {
		return true
	}
	for i := len(prefixes[KindDeposit]); i+damageRun <= len(mine); i++ {
		if strings.Contains(seen, mine[i:i+damageRun]) {
			return true
		}
	}
	return occursWithin(mine, seen, damageEdits)
}

const (
	damageRun   = 8 // so many characters in a row that equal ours are no accident: 40 bits
	damageEdits = 4 // so few edits to an otherwise whole copy, wherever it stands in the comment
)

// normalForm folds what people and systems change in passing: case, blanks, look-alike letters of base32.
func normalForm(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ', c == '\t':
			return -1
		case c == 'o', c == 'O':
			return '0'
		case c == 'i', c == 'I', c == 'l', c == 'L':
			return '1'
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		}
		return c
	}, s)
}

// occursWithin tells whether some stretch of text becomes want by at most limit insertions, deletions and
// substitutions: the distance of Levenshtein with both ends of text free (Sellers).
func occursWithin(want, text string, limit int) bool {
	row := make([]int, len(text)+1) // the empty want occurs everywhere
	for i := 1; i <= len(want); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(text); j++ {
			cost := 1
			if want[i-1] == text[j-1] {
				cost = 0
			}
			next := min(diagonal+cost, row[j]+1, row[j-1]+1)
			diagonal, row[j] = row[j], next
		}
	}
	return slices.Min(row) <= limit
}

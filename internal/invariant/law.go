package invariant

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"

	"creditonce/credit"
)

// What design §4, §7 and §8 say, written down a second time.

// step is one line of design §4's legal moves.
type step struct{ from, to credit.State }

// moves names who may make each move. A line that is not here is illegal.
var moves = map[step][]credit.Mover{
	{"", "pending"}:          {"intake"},
	{"", "held"}:             {"intake"},
	{"", "unknown"}:          {"intake"},
	{"held", "pending"}:      {"intake", "two people"},
	{"held", "done"}:         {"two people"},
	{"held", "cancelled"}:    {"two people"},
	{"pending", "claimed"}:   {"worker"},
	{"pending", "held"}:      {"intake", "worker", "operator"},
	{"pending", "done"}:      {"worker"},
	{"pending", "unknown"}:   {"restore"},
	{"claimed", "done"}:      {"worker"},
	{"claimed", "failed"}:    {"worker"},
	{"claimed", "unknown"}:   {"worker", "process", "restore"},
	{"unknown", "done"}:      {"resolver", "two people"},
	{"unknown", "pending"}:   {"resolver", "worker"},
	{"unknown", "cancelled"}: {"two people"},
	{"failed", "unknown"}:    {"operator"},
	{"failed", "cancelled"}:  {"two people"},
}

// signs are the directions of design §2: what raises the login's balance and what lowers it.
var signs = map[credit.Kind]int{
	"deposit": 1, "chargeback_reversal": 1, "withdrawal_return": 1,
	"refund": -1, "chargeback": -1, "withdrawal": -1,
}

var kindMarks = map[credit.Kind]string{
	"deposit": "dep:", "refund": "ref:", "chargeback": "cbk:", "chargeback_reversal": "cbr:", "withdrawal": "wdr:", "withdrawal_return": "wdb:",
}

// signed is the amount that the row's deal must have.
func signed(k credit.Kind, a credit.Amount) credit.Amount {
	if signs[k] < 0 {
		return a.Neg()
	}
	return a
}

// same tells that two amounts are the same money.
func same(a, b credit.Amount) bool {
	switch {
	case a == b:
		return true
	case !a.IsSet() || !b.IsSet() || a.Currency() != b.Currency():
		return !a.IsSet() && !b.IsSet()
	case a.Exponent() == b.Exponent():
		return a.Units().Cmp(b.Units()) == 0
	}
	return fine(a).Cmp(fine(b)) == 0
}

// fine is the amount in units of 10^-18 of its currency, the finest that there are.
func fine(a credit.Amount) *big.Int {
	n := a.Units()
	return n.Mul(n, tens[18-min(a.Exponent(), 18)])
}

var tens = func() (out [19]*big.Int) {
	out[0] = big.NewInt(1)
	for i := 1; i < len(out); i++ {
		out[i] = new(big.Int).Mul(out[i-1], big.NewInt(10))
	}
	return out
}()

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// reference is design §8: the kind's mark, 80 bits of a SHA-256 over length-prefixed parts, and a CRC-10/ATM over both.
func reference(env, identity string, k credit.Kind, u credit.Unit) string {
	var text []byte
	for _, part := range [...]string{"v1", env, identity, string(k), u.ProviderKind, u.Account, u.Payment, u.Part} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	n := new(big.Int).SetBytes(sum[:10])
	out := []byte(kindMarks[k])
	for place := 75; place >= 0; place -= 5 {
		digit := new(big.Int).Rsh(n, uint(place)).Uint64() & 31
		out = append(out, alphabet[digit])
	}
	rest := remainder(out)
	return string(append(out, alphabet[rest>>5], alphabet[rest&31]))
}

// remainder divides the text, as a polynomial over GF(2) times x^10, by x^10+x^9+x^5+x^4+x+1.
func remainder(text []byte) uint {
	var rest uint
	for _, b := range append(append([]byte(nil), text...), 0, 0) {
		for bit := 7; bit >= 0; bit-- {
			rest = rest<<1 | uint(b>>bit&1)
			if rest&0x400 != 0 {
				rest ^= 0x633
			}
		}
	}
	// Sixteen zeros were appended where ten belong: six steps back.
	for range 6 {
		if rest&1 != 0 {
			rest ^= 0x633
		}
		rest >>= 1
	}
	return rest
}

// digest chains a row's history: SHA-256 over the entry as it is stored.
func digest(e credit.Entry) string {
	text, err := json.Marshal(e)
	if err != nil {
		return "unreadable: " + err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// doubt says why an open task on a row stops automatic money on its login (I-S5); empty: it does not.
func doubt(k credit.TaskKind, c *credit.Credit) string {
	switch {
	case k == "conflict":
		return "a conflict is open"
	case k == "second_deal":
		return "a second deal is open"
	case k == "late_answer":
		return "a late answer is open"
	case k == "held" && holds(c, "conflict"):
		return "a row is held for a conflict"
	}
	return ""
}

func holds(c *credit.Credit, h credit.Hold) bool {
	for _, have := range c.Holds {
		if have == h {
			return true
		}
	}
	return false
}

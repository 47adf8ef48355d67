package mt5

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// arrived is a connection on which everything has come that will ever come.
type arrived struct {
	net.Conn
	text *bytes.Reader
}

func (a arrived) Read(b []byte) (int, error)  { return a.text.Read(b) }
func (arrived) SetDeadline(time.Time) error   { return nil }
func (a arrived) Write(b []byte) (int, error) { return len(b), nil }
func (arrived) Close() error                  { return nil }

// wireOf is a wire on which the bytes have come. Nothing is known of the kernel's buffer, so that what comes after an
// answer is seen only where it came in the same piece.
func wireOf(t testing.TB, raw []byte) *wire {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	under := &watched{Conn: arrived{text: bytes.NewReader(raw)}, budget: maxAnswer}
	return &wire{under: under, in: bufio.NewReaderSize(under, 16<<10), jar: jar, base: &url.URL{Scheme: "https", Host: "x"}}
}

// FuzzAnswer reads bytes as the answer to a balance call, as they come from the wire. Of an answer that is taken, no
// shorter piece is taken too: its end is where it says. Money is "applied" only with a ticket that stands in the bytes,
// under status 200.
func FuzzAnswer(f *testing.F) {
	whole := httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":"4294967301"}}`)
	for _, s := range []string{
		whole, whole + "x", whole + whole, whole[:len(whole)-1], "", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n" + whole,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"retcod\r\n21\r\ne\":\"0 Done\",\"answer\":{\"Ticket\":7}}\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
		httpAnswer(400, `{"retcode":"10019 No money"}`), httpAnswer(403, `{"retcode":"0 Done","answer":{"Ticket":1}}`),
		httpAnswer(200, `{"retcode":"13 Not found","answer":null}`), httpAnswer(200, `{"retcode":10009,"answer":[{"ticket":"1","Login":"500123"}]}`),
		httpAnswer(200, `{"retcode":"0 Done","RETCODE":"0 Done","answer":{"Ticket":"1","ticket":"2"}}`), httpAnswer(204, ""), httpAnswer(304, ""),
	} {
		f.Add([]byte(s))
	}
	amount, err := credit.Minor(500, "EUR", 2)
	if err != nil {
		f.Fatal(err)
	}
	call := credit.Call{Login: testLogin, Amount: amount, Reference: reference}
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := wireOf(t, raw)
		a, err := w.read(http.MethodPost)
		if err != nil {
			return
		}
		used := len(raw) - w.under.Conn.(arrived).text.Len() - w.in.Buffered()
		if used < len(raw) && w.in.Buffered() > 0 {
			t.Fatal("taken with bytes behind it")
		}
		if a.status < 200 || a.status > 999 || len(a.body) > used {
			t.Fatalf("status %d, %d bytes of body from %d", a.status, len(a.body), used)
		}
		// The trailing blank line of chunks may be read behind the last byte of the body; nothing else may be missing.
		for _, cut := range []int{used / 2, used - len(a.body)/2, used - 3} {
			if cut < 0 || cut >= used {
				continue
			}
			if shorter, err := wireOf(t, raw[:cut]).read(http.MethodPost); err == nil && len(a.body) > 2 && bytes.Equal(shorter.body, a.body) {
				t.Fatalf("%d bytes of %d are taken too", cut, used)
			}
		}
		e, _ := parseEnvelope(a.body)
		got := judgeBalance(call, a.status, e)
		switch got.Outcome {
		case credit.OutcomeApplied:
			if a.status != 200 || got.Ticket == 0 || !bytes.Contains(a.body, []byte(strconv.FormatUint(got.Ticket, 10))) && !bytes.Contains(a.body, []byte(`\u`)) {
				t.Fatalf("%+v of status %d and %q", got, a.status, a.body)
			}
		case credit.OutcomeRefused:
			if a.status != 200 && a.status != 400 && a.status != 404 || got.Ticket != 0 || e.code == codeDone {
				t.Fatalf("%+v of status %d and %q", got, a.status, a.body)
			}
		case credit.OutcomeUnknown:
		default:
			t.Fatalf("%+v of an answer", got)
		}
	})
}

// mostUnits is the largest amount of one operation (protocol-holes.md H39). exactIn is how many minor units a double
// holds whatever the number of places: 15 digits.
const (
	mostUnits = 1_000_000_000
	exactIn   = 1_000_000_000_000_000
)

// FuzzBalanceText: the amount as it travels, taken as a double by the server and shown again with the currency's digits,
// is the amount that was meant. It holds up to 10^9 units of at most 15 digits in all: with 8 places that is 10 million
// units. Beyond, the deal that is read back differs, and the row is never done by itself.
func FuzzBalanceText(f *testing.F) {
	for _, digits := range []uint8{0, 2, 3, 5, 8} {
		for _, minor := range []int64{1, -1, 5, 50000, 99999999, -123456789, exactIn, exactIn - 1, 9007199254740905, mostUnits * 100, 100000000000000} {
			f.Add(minor, digits)
		}
	}
	f.Fuzz(func(t *testing.T, minor int64, places uint8) {
		digits := int(places % 9)
		amount, err := credit.Minor(minor, "EUR", digits)
		if err != nil {
			t.Fatal(err)
		}
		params, err := balanceParams(credit.Call{Login: 1, Amount: amount, Reference: reference})
		if minor == 0 {
			if err == nil {
				t.Fatal("nothing can be sent")
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", amount, err)
		}
		text := params.Get("balance")
		if exact, ok := new(big.Rat).SetString(text); !ok || exact.Cmp(big.NewRat(minor, int64(math.Pow10(digits)))) != 0 {
			t.Fatalf("%d with %d digits travels as %q", minor, digits, text)
		}
		size := new(big.Int).Abs(big.NewInt(minor))
		if size.Cmp(big.NewInt(exactIn)) > 0 || size.Cmp(big.NewInt(int64(mostUnits*math.Pow10(digits)))) > 0 {
			return
		}
		there, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := dealAmount(strconv.FormatFloat(there, 'f', digits, 64), "EUR", digits)
		if err != nil || !back.Equal(amount) {
			t.Fatalf("%s was booked as %v, %v", amount, back, err)
		}
	})
}

// FuzzRequest: whatever stands in a call's parameters, the request has one line, no body, and says what was meant.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{"dep:8QK800AFQN6Y47J371", "a b", "a\r\nX: y", "a&login=1", "a+b", "a%20b", "día", "\xff", "a#b?c", "a;b", ""} {
		f.Add(s, "agent")
		f.Add(s, "creditonce/1.0")
	}
	f.Fuzz(func(t *testing.T, value, agent string) {
		if !plainToken(agent) {
			return // New refuses it
		}
		w := wireOf(t, nil)
		raw, err := w.render(order{method: http.MethodPost, endpoint: "trade/balance", params: url.Values{"comment": {value}, "login": {"7"}}, agent: agent})
		if err != nil {
			return
		}
		in := bufio.NewReader(bytes.NewReader(raw))
		r, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("not a request: %v: %q", err, raw)
		}
		if rest, _ := io.ReadAll(in); len(rest) != 0 || r.ContentLength != 0 || strings.Contains(r.RequestURI, "+") {
			t.Fatalf("more than one request without a body: %q", raw)
		}
		if q := r.URL.Query(); q.Get("comment") != value || len(q["comment"]) != 1 || len(q["login"]) != 1 || q.Get("login") != "7" || len(q) != 2 {
			t.Fatalf("says %v, %q was meant", q, value)
		}
		for name, values := range r.Header {
			if !strings.Contains(" Accept Connection Content-Length Content-Type User-Agent ", " "+name+" ") || len(values) != 1 {
				t.Fatalf("header %s: %q", name, values)
			}
		}
	})
}

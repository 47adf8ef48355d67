package boundary

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// Answers that two readers could read in two ways, or that come with more or less than they say. The server executes
// each call: the outcome is unknown, and a later look finds the one deal.
func TestOddAnswers_AreUnknownAndNeverRepeated(t *testing.T) {
	t.Parallel()
	ok := "HTTP/1.1 200 OK\r\n"
	for name, shape := range map[string]func(body string) string{
		"100 continue":   func(b string) string { return "HTTP/1.1 100 Continue\r\n\r\n" + whole(b) },
		"102 processing": func(b string) string { return "HTTP/1.1 102 Processing\r\n\r\n" + whole(b) },
		"103 flood": func(b string) string {
			return strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", 20_000) + whole(b)
		},
		"101 upgrade": func(b string) string {
			return "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + whole(b)
		},
		"two answers":            func(b string) string { return whole(b) + whole(b) },
		"two answers, one empty": func(b string) string { return whole(b) + "HTTP/1.1 204 No Content\r\n\r\n" },
		"an answer and a blank":  func(b string) string { return whole(b) + "\r\n" },
		"no length":              func(b string) string { return ok + "\r\n" + b },
		"two lengths": func(b string) string {
			return fmt.Sprintf("%sContent-Length: %d\r\nContent-Length: %d\r\n\r\n%s", ok, len(b), len(b)-1, b)
		},
		"negative length":          func(b string) string { return ok + "Content-Length: -1\r\n\r\n" + b },
		"length with a plus":       func(b string) string { return fmt.Sprintf("%sContent-Length: +%d\r\n\r\n%s", ok, len(b), b) },
		"length in hex":            func(b string) string { return fmt.Sprintf("%sContent-Length: 0x%x\r\n\r\n%s", ok, len(b), b) },
		"length too large":         func(b string) string { return ok + "Content-Length: 99999999999999999999\r\n\r\n" + b },
		"length larger than all":   func(b string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(b)+5, b) },
		"length too small":         func(b string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(b)-1, b) },
		"chunk shorter than said":  func(b string) string { return inChunks(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(b)+5, b)) },
		"chunk longer than said":   func(b string) string { return inChunks(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(b)-5, b)) },
		"chunk size is no number":  func(b string) string { return inChunks("zz\r\n" + b + "\r\n0\r\n\r\n") },
		"chunk size overflows":     func(b string) string { return inChunks("fffffffffffffffff\r\n" + b + "\r\n0\r\n\r\n") },
		"chunk size is negative":   func(b string) string { return inChunks("-1\r\n" + b + "\r\n0\r\n\r\n") },
		"last chunk is missing":    func(b string) string { return inChunks(fmt.Sprintf("%x\r\n%s\r\n", len(b), b)) },
		"end of chunks is missing": func(b string) string { return inChunks(fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(b), b)) },
		"chunks, then more":        func(b string) string { return inChunks(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(b), b)) + "0\r\n\r\n" },
		"unknown coding":           func(b string) string { return ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + b },
		"giant header": func(b string) string {
			return strings.Replace(whole(b), "\r\n", "\r\nX: "+strings.Repeat("a", 9<<20)+"\r\n", 1)
		},
		"header flood": func(b string) string {
			return strings.Replace(whole(b), "\r\n", "\r\n"+strings.Repeat("X: a\r\n", 2_000_000), 1)
		},
		"header without a colon": func(b string) string { return strings.Replace(whole(b), "\r\n", "\r\nX\r\n", 1) },
		"no HTTP version":        func(b string) string { return strings.Replace(whole(b), "HTTP/1.1", "HTTP", 1) },
		"HTTP/0.9":               func(b string) string { return b },
		"HTTP/2 frames":          func(string) string { return "\x00\x00\x12\x04\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 18) },
		"status of two digits":   func(b string) string { return strings.Replace(whole(b), "200", "20", 1) },
		"status 204":             func(b string) string { return strings.Replace(whole(b), "200", "204", 1) },
		"status 206":             func(b string) string { return strings.Replace(whole(b), "200", "206", 1) },
		"status 500":             func(b string) string { return strings.Replace(whole(b), "200", "500", 1) },
		"compressed": func(b string) string {
			return strings.Replace(whole("\x1f\x8b\x08"+b), "\r\n", "\r\nContent-Encoding: gzip\r\n", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, impatient)
			r.on("trade/balance", func(x exchange) bool {
				_, body, _ := bytes.Cut(x.execute(), []byte("\r\n\r\n"))
				x.send([]byte(shape(string(body))))
				x.finish(true)
				return false
			})
			r.unknown(1)
		})
	}
}

func whole(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func inChunks(chunks string) string {
	return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
}

// HTTP/1.1 has no request ids: an answer too many that comes just when the next call has left is taken for its answer.
// It carries the ticket of another deal, and reading that deal, as a lane does before anything counts as done, shows it:
// either there is no answer, or one about a deal that is not the call's.
func TestAnswerOfTheCallBefore_IsUnmaskedByReadingTheDeal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var held []byte // the answer that the client has not got yet: from the second call on, each gets the one before
	behind := false
	r.do(func(x exchange) bool {
		answer := x.execute()
		if x.endpoint() == "trade/balance" && !behind {
			behind, held = true, answer
			return x.send(answer)
		}
		if behind {
			answer, held = held, answer
		}
		return x.send(answer)
	})
	first, got, _ := r.balance()
	if got.Outcome != credit.OutcomeApplied {
		t.Fatalf("%+v", got)
	}
	second := r.call()
	taken := r.session.Balance(t.Context(), second)
	_, ticket := r.executed(first.Reference)
	if n, _ := r.executed(second.Reference); n != 1 || taken.Outcome != credit.OutcomeApplied || taken.Ticket != ticket {
		t.Fatalf("%+v, executed %d times: the test does not do what it says", taken, n)
	}
	if d, err := r.session.Deal(t.Context(), taken.Ticket); err == nil {
		t.Errorf("ticket %d was read as %+v from an answer about another deal", taken.Ticket, d)
	}
	r.session.Drop("as a lane does with a deal that does not fit")
	r.do(nil)
	r.ready()
	if r.look(first) != 1 || r.look(second) != 1 {
		t.Error("a look does not show both deals once")
	}
}

// A look that does not get every answer whole is never complete, wherever it is cut: nothing may be said to be absent.
func TestLook_AnswerCutAtAnyByte_IsNeverComplete(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"user/get", "group/get", "deal/get_total", "deal/get_page"} {
		t.Run(strings.ReplaceAll(endpoint, "/", " "), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for range 3 {
				r.ready()
				if _, got, _ := r.balance(); got.Outcome != credit.OutcomeApplied {
					t.Fatal(got)
				}
			}
			length := 0
			for cut := 0; length == 0 || cut < length; cut += 1 + length/30 {
				r.session.Drop("what was learned of the account is asked again")
				r.on(endpoint, func(x exchange) bool {
					answer := x.execute()
					length = len(answer)
					x.send(answer[:min(cut, length-1)])
					x.finish(cut%2 == 0)
					return false
				})
				s := r.session.Look(t.Context(), credit.LookQuery{Login: login, Earliest: time.Now().Add(-time.Hour)})
				if s.Complete || s.LoginMissing {
					t.Fatalf("complete with %d bytes of %d of %s", cut, length, endpoint)
				}
			}
		})
	}
}

// One answer of a look is odd, once: the look ends without an answer, or is made again and shows all deals.
func TestLook_OneOddAnswer_NeverHidesADeal(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func(answer []byte) []byte{
		"cut":         func(a []byte) []byte { return a[:len(a)-1] },
		"nothing":     func([]byte) []byte { return nil },
		"empty body":  func([]byte) []byte { return []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
		"no deals":    func([]byte) []byte { return []byte(whole(`{"retcode":"0 Done","answer":[]}`)) },
		"null":        func([]byte) []byte { return []byte(whole(`{"retcode":"0 Done","answer":null}`)) },
		"not found":   func([]byte) []byte { return []byte(whole(`{"retcode":"13 Not found"}`)) },
		"nothing new": func([]byte) []byte { return []byte(whole(`{"retcode":"1 OK none"}`)) },
		"cached":      func([]byte) []byte { return []byte("HTTP/1.1 304 Not Modified\r\n\r\n") },
		"redirect":    func([]byte) []byte { return []byte("HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 0\r\n\r\n") },
		"busy":        func([]byte) []byte { return []byte("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n") },
		"twice":       func(a []byte) []byte { return slices.Concat(a, a) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var calls []credit.Call
			for range 3 {
				c, _, _ := r.balance()
				calls = append(calls, c)
			}
			complete := 0
			for turn := range 8 {
				n := 0
				r.do(func(x exchange) bool {
					answer := x.execute()
					if !strings.HasPrefix(x.endpoint(), "deal/") {
						return x.send(answer)
					}
					if n++; n != turn+1 {
						return x.send(answer)
					}
					x.send(shape(answer))
					x.finish(true)
					return false
				})
				s := r.session.Look(t.Context(), credit.LookQuery{Login: login, Earliest: time.Now().Add(-time.Hour)})
				if !s.Complete {
					continue
				}
				complete++
				for _, c := range calls {
					if !slices.ContainsFunc(s.Deals, func(d credit.Deal) bool { return d.Comment == string(c.Reference) }) {
						t.Errorf("answer %d: a complete look lacks %s", turn+1, c.Reference)
					}
				}
			}
			if complete == 0 {
				t.Error("no look was complete, not even those that nothing was done to")
			}
		})
	}
}

package linear

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// door is where the service is now. Clients that find it shut wait until it is open again.
type door struct {
	mu      sync.Mutex
	opened  *sync.Cond
	address string
}

func newDoor(address string) *door {
	d := &door{address: address}
	d.opened = sync.NewCond(&d.mu)
	return d
}

func (d *door) set(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	d.opened.Broadcast()
}

// wait returns the address when the service is there and it is not the one that was found dead.
func (d *door) wait(dead string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.address == "" || d.address == dead {
		d.opened.Wait()
	}
	return d.address
}

// caller is one thread of a client: it makes a call, waits for the answer, and makes the next.
type caller struct {
	t      *testing.T
	door   *door
	past   *history
	random *rand.Rand
	id     int
	client int
	tale   string // makes codes and keys those of this run

	conn net.Conn
	in   *bufio.Reader
	at   string
}

func (c *caller) login() int { return 1000 + c.client }

// ownCode is the code that the portal brings for a slot; "" where it leaves that to the service.
func (c *caller) ownCode(slot int) string {
	if slot == drawnSlot {
		return ""
	}
	return fmt.Sprintf("own-%s-%02d-%d-%s", c.tale, c.client, max(slot, 1), strings.Repeat("x", 22))
}

// draw chooses the next call: mostly makes, under few keys, so that they meet.
func (c *caller) draw() wish {
	w := wish{client: c.client}
	switch n := c.random.IntN(20); {
	case n < 10:
		w.call, w.slot, w.variant = opMake, c.random.IntN(slots), 1+c.random.IntN(5)/4
		w.code = c.ownCode(w.slot)
		return w
	case n < 15:
		w.call = opRead
	case n < 17:
		w.call = opClose
	default:
		w.call = opList
		return w
	}
	codes := c.past.codesOf(c.client)
	codes = append(codes, c.ownCode(0), c.ownCode(2))
	w.code = codes[c.random.IntN(len(codes))]
	return w
}

// codesOf are the codes that the client's answers have shown.
func (h *history) codesOf(client int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, o := range h.ops {
		if o.Input.(wish).client != client {
			continue
		}
		for _, d := range o.Output.(answer).deposits {
			if !slices.Contains(out, d.code) {
				out = append(out, d.code)
			}
		}
	}
	return out
}

// request is the call as bytes.
func (c *caller) request(w wish) string {
	method, path, extra, body := http.MethodGet, "/v1/deposits/"+w.code, "", ""
	switch w.call {
	case opClose:
		method = http.MethodDelete
	case opList:
		path = fmt.Sprintf("/v1/deposits?client=client-%d&limit=200", w.client)
	case opMake:
		minor := minorOf(w.slot, w.variant)
		money := fmt.Sprintf(`{"amount":"%d.%02d","currency":"USD"}`, minor/100, minor%100)
		code := ""
		if w.code != "" {
			code = fmt.Sprintf(`"code":%q,`, w.code)
		}
		body = fmt.Sprintf(`{"client":"client-%d","server":"main","login":"%d","provider":"stripe",%s"paid":%s,"credited":%s}`, w.client, c.login(), code, money, money)
		method, path = http.MethodPost, "/v1/deposits"
		extra = fmt.Sprintf("Idempotency-Key: %s-%d-%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", c.tale, w.client, w.slot, len(body))
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\n%s\r\n%s", method, path, portalKey, extra, body)
}

// connect waits for the service and dials it.
func (c *caller) connect() {
	for c.conn == nil {
		c.at = c.door.wait(c.at)
		conn, err := net.Dial("tcp", c.at)
		if err != nil {
			continue // it has just died: wait for another address
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
}

// drop ends the connection; without a good-bye where hard.
func (c *caller) drop(hard bool) {
	if tcp, ok := c.conn.(*net.TCPConn); ok && hard {
		_ = tcp.SetLinger(0)
	}
	_ = c.conn.Close()
	c.conn, c.at = nil, ""
}

// The fates of a call's connection.
const (
	fateWhole    = iota // stays
	fateHalfShut        // the client says that no more will come, and waits for the answer
	fateCutEarly        // reset before the request has left whole: nothing may come of it
	fateCutLate         // reset when the request has left whole
	fateCutIn           // reset in the middle of the answer
)

func (c *caller) fate() int {
	switch n := c.random.IntN(20); {
	case n < 14:
		return fateWhole
	case n < 16:
		return fateHalfShut
	default:
		return n - 14
	}
}

// call makes one call and records it. A request of which not all has left is not recorded: if anything comes of it,
// the others see a deposit that nobody asked for.
func (c *caller) call(w wish) {
	request, fate := c.request(w), c.fate()
	for {
		c.connect()
		begin := c.past.now()
		a, sent := c.exchange(request, fate)
		if sent {
			c.past.add(porcupine.Operation{ClientId: c.id, Input: w, Output: a, Call: begin, Return: c.past.now()})
		}
		if sent || fate == fateCutEarly {
			return
		}
		// The service was gone before the request could leave whole: the same again when it is back.
	}
}

// exchange is one request and its answer. sent tells that all of the request may have left.
func (c *caller) exchange(request string, fate int) (a answer, sent bool) {
	switch fate {
	case fateCutEarly:
		_, _ = io.WriteString(c.conn, request[:c.random.IntN(len(request))])
		c.drop(true)
		return answer{}, false
	case fateCutLate:
		n, _ := io.WriteString(c.conn, request)
		c.drop(c.random.IntN(2) == 0)
		return answer{none: true}, n == len(request)
	}
	if n, err := io.WriteString(c.conn, request); err != nil {
		c.drop(true)
		return answer{none: true}, n == len(request)
	}
	if fate == fateCutIn {
		_, _ = io.CopyN(io.Discard, c.in, int64(1+c.random.IntN(60)))
		c.drop(true)
		return answer{none: true}, true
	}
	if tcp, ok := c.conn.(*net.TCPConn); ok && fate == fateHalfShut {
		_ = tcp.CloseWrite()
	}
	a, err := c.read()
	if err != nil || fate == fateHalfShut {
		c.drop(false)
	}
	if err != nil {
		return answer{none: true}, true
	}
	return a, true
}

// read takes one whole answer.
func (c *caller) read() (answer, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute)) // a service that hangs fails the test by its log, not by a time-out of the run
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return answer{}, hang(c.t, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, hang(c.t, err)
	}
	a := answer{status: resp.StatusCode, replayed: resp.Header.Get("Idempotency-Replayed") == "true"}
	if err := a.fill(text); err != nil {
		c.t.Errorf("status %d: %v: %s", resp.StatusCode, err, text)
	}
	return a, nil
}

func hang(t *testing.T, err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Error("the service did not answer in a minute")
	}
	return err
}

// fill reads a body: a problem, a deposit or a page of them.
func (a *answer) fill(text []byte) error {
	type deposit struct {
		Code, State string
		Credited    struct{ Minor string }
	}
	var said struct {
		deposit
		Items []deposit
		Next  *string
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	switch {
	case a.status >= 400:
		a.code = said.Code
		return nil
	case said.Next != nil:
		return errors.New("a client's few deposits do not fit a page")
	case said.Items == nil:
		said.Items, a.body = []deposit{said.deposit}, string(text)
	}
	for _, d := range said.Items {
		minor, err := strconv.Atoi(d.Credited.Minor)
		if err != nil {
			return err
		}
		a.deposits = append(a.deposits, shown{d.Code, d.State, minor})
	}
	slices.SortFunc(a.deposits, byCode)
	return nil
}

package bench

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// connection speaks just enough HTTP/1.1 to make one request after the other on one connection: the load shares the
// processors with what it measures, and net/http's client costs as much as the service.
type connection struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

// answerWithin bounds one request, so that a load ends even where the service hangs.
const answerWithin = 30 * time.Second

// dial connects over TLS where caFile is given.
func dial(addr, caFile string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", addr, answerWithin)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
		if err := secure.Handshake(); err != nil {
			return nil, errors.Join(fmt.Errorf("connect: %w", err), conn.Close())
		}
		conn = secure
	}
	return &connection{conn: conn, in: bufio.NewReaderSize(conn, 8<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// post sends a signed webhook and returns the status of the answer.
func (c *connection) post(path string, body []byte, signature string) (int, error) {
	c.request = append(c.request[:0], "POST "...)
	c.request = append(c.request, path...)
	c.request = append(c.request, " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\n"+
		"Content-Type: application/json; charset=utf-8\r\nStripe-Signature: "...)
	c.request = append(c.request, signature...)
	c.request = append(c.request, "\r\nContent-Length: "...)
	c.request = strconv.AppendInt(c.request, int64(len(body)), 10)
	c.request = append(c.request, "\r\n\r\n"...)
	c.request = append(c.request, body...)
	return c.exchange(c.request)
}

// get asks with a portal's key and returns the status of the answer.
func (c *connection) get(path, key string) (int, error) {
	return c.exchange([]byte("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + key + "\r\n\r\n"))
}

func (c *connection) exchange(request []byte) (int, error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	status, err := c.line()
	if err != nil {
		return 0, err
	}
	if len(status) < 12 || !bytes.HasPrefix(status, []byte("HTTP/1.1 ")) {
		return 0, errors.New("the answer is no HTTP/1.1")
	}
	code, err := strconv.Atoi(string(status[9:12]))
	if err != nil {
		return 0, errors.New("the answer has no status")
	}
	return code, c.rest()
}

// rest reads the headers and as much body as they announce.
func (c *connection) rest() error {
	length := int64(-1)
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 32); err != nil {
				return errors.New("the answer's length is no number")
			}
		}
	}
	if length < 0 {
		return errors.New("the answer does not say its length")
	}
	if _, err := io.CopyN(io.Discard, c.in, length); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

func (c *connection) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

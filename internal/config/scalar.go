package config

import (
	"encoding/hex"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// shown quotes a value of the file for a message, shortened.
func shown(value string) string {
	const longest = 60
	if runes := []rune(value); len(runes) > longest {
		value = string(runes[:longest]) + "..."
	}
	return strconv.Quote(value)
}

// textOf reads a node as one line of text; problems are reported at path.
func (r *reader) textOf(path string, node ast.Node) (string, bool) {
	n, ok := node.(*ast.StringNode)
	switch {
	case !ok && isNumber(node):
		r.fault(path, "is %s where text is expected; put it in quotes", kindOf(node))
	case !ok:
		r.fault(path, "is %s where text is expected; write one text", kindOf(node))
	case n.Value == "":
		r.fault(path, "is an empty text; write a value, or delete the line to use the default")
	case strings.TrimSpace(n.Value) != n.Value || strings.ContainsFunc(n.Value, unicode.IsControl):
		r.fault(path, "starts or ends with white space, or holds a line break or control character; take it out")
	default:
		return n.Value, true
	}
	return "", false
}

func isNumber(node ast.Node) bool {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return true
	default:
		return false
	}
}

// text reads a text; check, which may be nil, returns what is wrong with a value and what to do, or "".
func (s *section) text(name string, to *string, check func(string) string) {
	node := s.value(name)
	if node == nil {
		return
	}
	value, ok := s.r.textOf(s.child(name), node)
	if !ok {
		return
	}
	if check != nil {
		if problem := check(value); problem != "" {
			s.r.fault(s.child(name), "%s", problem)
			return
		}
	}
	*to = value
}

// oneOf makes a check for text that accepts only the given words.
func oneOf(words ...string) func(string) string {
	return func(value string) string {
		for _, w := range words {
			if value == w {
				return ""
			}
		}
		advice := "write one of: " + strings.Join(words, ", ")
		if guess := nearest(value, words); guess != "" {
			advice += " (did you mean " + guess + "?)"
		}
		return fmt.Sprintf("%s is not known; %s", shown(value), advice)
	}
}

// path reads a file path and makes it absolute.
func (s *section) filePath(name string, to *string) {
	var value string
	if s.text(name, &value, nil); value != "" {
		*to = s.r.absolute(value)
	}
}

func (s *section) flag(name string, to *bool) {
	switch n := s.value(name).(type) {
	case nil:
	case *ast.BoolNode:
		*to = n.Value
	default:
		s.r.fault(s.child(name), "is %s; write true or false", kindOf(n))
	}
}

// integer reads a whole number of lo to hi.
func (s *section) integer(name string, to *int, lo, hi int) {
	value := uint64(*to)
	s.unsigned(name, &value, uint64(lo), uint64(hi))
	*to = int(value)
}

// unsigned reads a whole number of lo to hi, written in decimal.
func (s *section) unsigned(name string, to *uint64, lo, hi uint64) {
	if node := s.value(name); node != nil {
		s.r.unsignedOf(s.child(name), node, to, lo, hi)
	}
}

// unsignedOf reads a node as a whole number of lo to hi. Only plain decimal digits count: 010 would be eight elsewhere.
func (r *reader) unsignedOf(path string, node ast.Node, to *uint64, lo, hi uint64) {
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		r.fault(path, "is %s; write a whole number from %d to %d, without quotes", kindOf(node), lo, hi)
		return
	}
	written := n.GetToken().Value
	value, err := strconv.ParseUint(written, 10, 64)
	if err != nil || strconv.FormatUint(value, 10) != written || value < lo || value > hi {
		r.fault(path, "%s is not a whole number from %d to %d; write such a number in plain digits", shown(written), lo, hi)
		return
	}
	*to = value
}

// durationOf reads a node as a duration text such as "1m30s".
func (r *reader) durationOf(path string, node ast.Node, to *time.Duration, lo, hi time.Duration) bool {
	n, ok := node.(*ast.StringNode)
	if !ok {
		r.fault(path, "is %s, not a duration; write a number with its unit, such as 500ms, 20s, 10m or 24h", kindOf(node))
		return false
	}
	value, err := time.ParseDuration(n.Value)
	switch {
	case err != nil:
		r.fault(path, "%s is not a duration; write a number with its unit, such as 500ms, 20s, 10m or 24h", shown(n.Value))
	case value < lo:
		r.fault(path, "%s is too short; write at least %s", n.Value, plain(lo))
	case value > hi:
		r.fault(path, "%s is too long; write at most %s", n.Value, plain(hi))
	default:
		*to = value
		return true
	}
	return false
}

// duration reads a duration of lo to hi.
func (s *section) duration(name string, to *time.Duration, lo, hi time.Duration) {
	if node := s.value(name); node != nil {
		s.r.durationOf(s.child(name), node, to, lo, hi)
	}
}

// plain writes a duration as a person would: 10m, not 10m0s.
func plain(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeUnits are the units of sizes, smallest first.
var sizeUnits = [...]struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

var sizeForm = regexp.MustCompile(`^([0-9]{1,6})(KiB|MiB|GiB|TiB)$`)

// size reads a size of lo to hi bytes.
func (s *section) size(name string, to *int64, lo, hi int64) {
	node := s.value(name)
	if node == nil {
		return
	}
	path := s.child(name)
	n, ok := node.(*ast.StringNode)
	if !ok {
		s.r.fault(path, "is %s, not a size; write a whole number with its unit, such as 256KiB, 512MiB or 64GiB", kindOf(node))
		return
	}
	parts := sizeForm.FindStringSubmatch(n.Value)
	if parts == nil {
		s.r.fault(path, "%s is not a size; write a whole number with its unit, such as 256KiB, 512MiB or 64GiB", shown(n.Value))
		return
	}
	value, _ := strconv.ParseInt(parts[1], 10, 64) // at most six digits
	for _, u := range sizeUnits {
		if u.name == parts[2] {
			value *= u.bytes
		}
	}
	switch {
	case value < lo:
		s.r.fault(path, "%s is too small; write at least %s", n.Value, FormatSize(lo))
	case value > hi:
		s.r.fault(path, "%s is too large; write at most %s", n.Value, FormatSize(hi))
	default:
		*to = value
	}
}

// FormatSize writes a number of bytes the way the configuration does, in the largest unit that divides it.
func FormatSize(bytes int64) string {
	text := strconv.FormatInt(bytes, 10) + " bytes"
	for _, u := range sizeUnits {
		if bytes != 0 && bytes%u.bytes == 0 {
			text = strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return text
}

// listenAddress checks host:port of a listener of our own.
func listenAddress(value string) string {
	const advice = "write host:port, such as 127.0.0.1:8080, or :8080 for every address"
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return fmt.Sprintf("%s is not an address to listen on; %s", shown(value), advice)
	}
	if _, ok := portNumber(port, 0); !ok {
		return fmt.Sprintf("%s has no port from 0 to 65535; %s", shown(value), advice)
	}
	if host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return fmt.Sprintf("%s does not start with an IP address of this machine; %s", shown(value), advice)
	}
	return ""
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)

// remoteAddress checks host:port of somebody else's server.
func remoteAddress(value string) string {
	const advice = "write host:port without a scheme or path, such as mt5.example.com:443"
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return fmt.Sprintf("%s is not a server's address; %s", shown(value), advice)
	}
	if _, ok := portNumber(port, 1); !ok {
		return fmt.Sprintf("%s has no port from 1 to 65535; %s", shown(value), advice)
	}
	if net.ParseIP(host) == nil && !hostForm.MatchString(host) {
		return fmt.Sprintf("%s has no valid host name; %s", shown(value), advice)
	}
	return ""
}

func portNumber(port string, lo uint64) (uint64, bool) {
	n, err := strconv.ParseUint(port, 10, 16)
	return n, err == nil && n >= lo
}

// digest reads 64 hex digits. The value is not shown: people paste keys where a hash belongs.
func (s *section) digest(name, advice string) (sum [32]byte, ok bool) {
	node := s.value(name)
	if node == nil {
		return sum, false
	}
	value, ok := s.r.textOf(s.child(name), node)
	if !ok {
		return sum, false
	}
	raw, err := hex.DecodeString(value)
	if err != nil || len(raw) != len(sum) {
		s.r.fault(s.child(name), "is not a SHA-256 of 64 hex digits; %s", advice)
		return sum, false
	}
	return [32]byte(raw), true
}

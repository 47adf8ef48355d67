package mapped

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"creditonce/recon"
)

// decoder returns what turns the encoding into UTF-8, nil for UTF-8 itself. What is not of that encoding ends the feed with a
// *recon.FileError: a replacement character would change a payment id in silence.
func decoder(name, encoding string) func(io.Reader) io.Reader {
	switch encoding {
	case utf16Text:
		return func(in io.Reader) io.Reader {
			return &decoding{in: bufio.NewReader(in), name: name, next: (&utf16Feed{}).next}
		}
	case windowsText:
		return func(in io.Reader) io.Reader { return &decoding{in: bufio.NewReader(in), name: name, next: windows} }
	}
	return nil
}

// decoding hands on one character after the other as UTF-8.
type decoding struct {
	in     *bufio.Reader
	name   string
	next   func(*bufio.Reader) (rune, error)
	rest   []byte // of a character that did not fit
	buffer [utf8.UTFMax]byte
}

func (d *decoding) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(d.rest) > 0 {
			took := copy(p[n:], d.rest)
			d.rest, n = d.rest[took:], n+took
			continue
		}
		c, err := d.next(d.in)
		if text := (badText)(""); errors.As(err, &text) {
			return n, &recon.FileError{Name: d.name, Text: string(text)}
		}
		if err != nil {
			return n, err
		}
		d.rest = d.buffer[:utf8.EncodeRune(d.buffer[:], c)]
	}
	return n, nil
}

// badText is bytes that the encoding does not have.
type badText string

func (b badText) Error() string { return string(b) }

// utf16Feed reads UTF-16 in the order that its byte order mark names.
type utf16Feed struct {
	started, little bool
}

func (u *utf16Feed) next(in *bufio.Reader) (rune, error) {
	if !u.started {
		first, err := u.unit(in)
		if err != nil {
			return 0, err
		}
		u.started = true
		switch first {
		case 0xfeff:
		case 0xfffe:
			u.little = true
		default:
			return 0, badText("is not UTF-16 with a byte order mark, as file.encoding says; correct the config or export it again")
		}
	}
	c, err := u.unit(in)
	if err != nil || !utf16.IsSurrogate(rune(c)) {
		return rune(c), err
	}
	low, err := u.unit(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if full := utf16.DecodeRune(rune(c), rune(low)); full != utf8.RuneError {
		return full, nil
	}
	return 0, badText("holds half a character of UTF-16: it is cut or of another encoding; get it again")
}

func (u *utf16Feed) unit(in *bufio.Reader) (uint16, error) {
	a, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	b, err := in.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, badText("ends inside a character of UTF-16: it is cut; get it again")
	}
	if u.little {
		a, b = b, a
	}
	return uint16(a)<<8 | uint16(b), err
}

// windowsHigh are the characters 0x80 to 0x9f of Windows-1252; 0 where it has none. The others are those of Unicode.
var windowsHigh = [32]rune{
	0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0,
	0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
}

func windows(in *bufio.Reader) (rune, error) {
	b, err := in.ReadByte()
	if err != nil || b < 0x80 || b > 0x9f {
		return rune(b), err
	}
	if c := windowsHigh[b-0x80]; c != 0 {
		return c, nil
	}
	return 0, badText("holds a byte that Windows-1252 does not have; correct file.encoding in the config or export it again")
}

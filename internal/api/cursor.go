package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
)

// cursorSum is how many bytes of a cursor bind it to its list and filter.
const cursorSum = 12

var cursorForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,512}$`)

func isCursor(text string) (code, detail string) {
	if !cursorForm.MatchString(text) {
		return "bad_cursor", "want what next of the page before says"
	}
	return "", ""
}

// cursorOf writes a place in a list as a text that fits this list with this filter alone; nil at the end.
func cursorOf(path string, q query, place []byte) *string {
	if place == nil {
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString(append(bindPlace(path, q, place), place...))
	return &text
}

// placeOf reads what cursorOf wrote. The sum holds no secret: it guards against mistakes, and a place that somebody
// makes up shows nothing that the same key may not read.
func placeOf(path string, q query) ([]byte, error) {
	if !q.has("cursor") {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(q["cursor"])
	if err != nil || len(raw) < cursorSum || !bytes.Equal(raw[:cursorSum], bindPlace(path, q, raw[cursorSum:])) {
		return nil, kindCursor.about("cursor", "the cursor belongs to another list or filter; begin again without it")
	}
	return raw[cursorSum:], nil
}

func bindPlace(path string, q query, place []byte) []byte {
	h := sha256.New()
	part := func(text string) {
		h.Write([]byte{byte(len(text) >> 8), byte(len(text))})
		h.Write([]byte(text))
	}
	part("creditonce cursor 1")
	part(path)
	part(string(place))
	var names []string
	for name := range q {
		if name != "limit" && name != "cursor" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		part(name)
		part(q[name])
	}
	return h.Sum(nil)[:cursorSum]
}

package alert

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// mostFailure bounds what is kept of an error, in runes: a far side's words are in it.
const mostFailure = 200

// failure makes an error that may be stored and shown: one bounded line, without the address of a request, whose query
// may be a secret, and without the secrets, however a far side repeats them.
func failure(doing string, err error, secrets ...string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	text := err.Error()
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range []string{
			s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s)), base64.RawStdEncoding.EncodeToString([]byte(s)),
		} {
			text = strings.ReplaceAll(text, form, "***")
		}
	}
	if runes := []rune(oneLine(text)); len(runes) > mostFailure {
		text = string(runes[:mostFailure]) + "…"
	} else {
		text = string(runes)
	}
	return fmt.Errorf("%s: %s", doing, text)
}

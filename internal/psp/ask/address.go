package ask

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Address reads the address of an API: https with a host and nothing behind it, or http on a loopback IP address (tests and the demo).
// secret is what would travel in the clear otherwise, for the error.
func Address(text, secret string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, errors.New("the address of the API is not https://HOST")
	case u.Scheme == "https":
	case u.Scheme == "http" && Loopback(u):
	default:
		return nil, errors.New("the address of the API is not https: the " + secret + " would travel in the clear")
	}
	u.Path = ""
	return u, nil
}

// Loopback tells that an address is an IP address of this machine's own; a name is none, whatever it resolves to.
func Loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

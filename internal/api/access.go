package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The scopes of API keys.
const (
	ScopeAccountsWrite = "accounts:write"
	ScopeAccountsRead  = "accounts:read"
	ScopeDepositsWrite = "deposits:write"
	ScopeDepositsRead  = "deposits:read"
)

// Key is one bearer key. Only its hash is known; a plain hash is enough for 256 random bits (security.md §6.4).
type Key struct {
	Name   string   // who uses it: the owner of deposits and of idempotency keys
	SHA256 [32]byte // of the whole key text, "co_" included
	Scopes []string
}

func (k Key) mayAny(scopes []string) bool {
	return slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(k.Scopes, s) })
}

// keyring is a checked set of keys.
type keyring []Key

func newKeyring(keys []Key) (keyring, error) {
	names, hashes := map[string]bool{}, map[[32]byte]bool{}
	for _, k := range keys {
		switch {
		case k.Name == "":
			return nil, fmt.Errorf("an API key has no name")
		case names[k.Name]:
			return nil, fmt.Errorf("API key %q: the name is used twice", k.Name)
		case k.SHA256 == [32]byte{}:
			return nil, fmt.Errorf("API key %q: no SHA-256", k.Name)
		case hashes[k.SHA256]:
			return nil, fmt.Errorf("API key %q: another key has the same SHA-256", k.Name)
		case k.mayAny([]string{ScopeAccountsWrite}) && k.mayAny([]string{ScopeDepositsWrite}):
			return nil, fmt.Errorf("API key %q: no key may have both %s and %s", k.Name, ScopeAccountsWrite, ScopeDepositsWrite)
		}
		for _, s := range k.Scopes {
			if !slices.Contains([]string{ScopeAccountsWrite, ScopeAccountsRead, ScopeDepositsWrite, ScopeDepositsRead}, s) {
				return nil, fmt.Errorf("API key %q: unknown scope %q", k.Name, s)
			}
		}
		names[k.Name], hashes[k.SHA256] = true, true
	}
	return slices.Clone(keys), nil
}

// find returns the key of a request. Every key is compared, in constant time, so that the time of an answer says
// nothing about which keys exist. Two Authorization headers are refused: proxies disagree on which one counts.
func (k keyring) find(header http.Header) (Key, bool) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return Key{}, false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || !strings.HasPrefix(token, "co_") {
		return Key{}, false
	}
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range k {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], k[i].SHA256[:]), i, found)
	}
	if found < 0 {
		return Key{}, false
	}
	return k[found], true
}

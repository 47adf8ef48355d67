package desk

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"

	"creditonce/credit"
)

// Key is a key of the portal's API. Only its hash is known.
type Key struct {
	Number    uint64    `json:"number"` // the store's own; 0 of a key from the configuration
	Name      string    `json:"name"`   // the owner of deposits and of idempotency keys
	SHA256    string    `json:"sha256"` // hexadecimal, of the whole key text
	Scopes    []string  `json:"scopes"` // sorted
	CreatedAt time.Time `json:"created_at,omitzero"`
	CreatedBy string    `json:"created_by,omitempty"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
	RevokedBy string    `json:"revoked_by,omitempty"`
	Source    KeySource `json:"-"`
}

// KeySource says where a key is kept.
type KeySource string

// The sources. A key of the configuration is valid as long as it stands there, and is taken out there; keys of the store
// are made and revoked here. Both are valid beside each other, so that moving a key needs no moment without it.
const (
	FromStore  KeySource = "store"
	FromConfig KeySource = "config"
)

// Live tells that the key is not revoked.
func (k Key) Live() bool { return k.RevokedAt.IsZero() }

var keyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// No key may both own logins and make deposits: a stolen checkout key must not give a login to another client.
const (
	ownsLogins    = "accounts:write"
	makesDeposits = "deposits:write"
)

func liveKey(name string, keys []Key) *Key {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name && k.Live() })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// newKey makes the key of an act, or says why it cannot be.
func newKey(a Act, stored, configured []Key, scopes []string) (Key, error) {
	k := Key{Name: a.about(), SHA256: a.Params["sha256"], Scopes: list[string](a.Params["scopes"])}
	sum, err := hex.DecodeString(k.SHA256)
	switch {
	case !keyForm.MatchString(k.Name):
		return k, fmt.Errorf("key %q: a name is letters, digits, . _ -, at most 64 of them: %w", k.Name, credit.ErrInvalid)
	case err != nil || len(sum) != 32 || k.SHA256 != hex.EncodeToString(sum):
		return k, fmt.Errorf("key %s: sha256 is 64 lower case hexadecimal digits: %w", k.Name, credit.ErrInvalid)
	case len(k.Scopes) == 0:
		return k, fmt.Errorf("key %s: it needs a scope: %w", k.Name, credit.ErrInvalid)
	case slices.Contains(k.Scopes, ownsLogins) && slices.Contains(k.Scopes, makesDeposits):
		return k, credit.Refuse("scopes_apart", "no key may have both %s and %s: a stolen one could give a login to another client", ownsLogins, makesDeposits)
	}
	for _, s := range k.Scopes {
		if !slices.Contains(scopes, s) {
			return k, fmt.Errorf("key %s: there is no scope %q, only %v: %w", k.Name, s, scopes, credit.ErrInvalid)
		}
	}
	for _, o := range slices.Concat(stored, configured) {
		switch {
		case o.SHA256 == k.SHA256:
			return k, credit.Refuse("key_known", "the key %s has this hash; draw another one", o.Name)
		case o.Name == k.Name && o.Live():
			return k, credit.Refuse("name_taken", "there is a live key %s; revoke it first, or give the new one a name of its own", o.Name)
		}
	}
	return k, nil
}

// revocable finds the key that an act revokes.
func revocable(a Act, stored, configured []Key) (Key, error) {
	if k := liveKey(a.about(), stored); k != nil {
		return *k, nil
	}
	if k := liveKey(a.about(), configured); k != nil {
		return Key{}, credit.Refuse("config_key", "the key %s stands in the configuration: take it out under api.keys and start again", k.Name)
	}
	return Key{}, fmt.Errorf("key %q: %w", a.about(), credit.ErrNotFound)
}

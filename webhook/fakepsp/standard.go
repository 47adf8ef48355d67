package fakepsp

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SignStandard returns the three headers of Standard Webhooks (providers.md §2.14) for a message, with one signature
// for each secret in their order: "v1," and an HMAC-SHA256 for a symmetric key (whsec_ and base64, or the base64
// alone), "v1a," and an ed25519 signature for a private key (whsk_ and the base64 of its 64 bytes). What is signed is
// "<id>.<seconds>.<body>". With a public key (whpk_) nobody can sign; no error shows a secret.
func SignStandard(secrets []string, id string, body []byte, t time.Time) (map[string]string, error) {
	seconds := strconv.FormatInt(t.Unix(), 10)
	message := []byte(id + "." + seconds + "." + string(body))
	list := make([]string, 0, len(secrets))
	for i, secret := range secrets {
		entry, err := standardEntry(secret, message)
		if err != nil {
			return nil, fmt.Errorf("sign with secret %d: %w", i+1, err)
		}
		list = append(list, entry)
	}
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": strings.Join(list, " "),
	}, nil
}

func standardEntry(secret string, message []byte) (string, error) {
	kind, text, prefixed := strings.Cut(secret, "_")
	if !prefixed {
		kind, text = "whsec", secret
	}
	for len(text)%4 != 0 {
		text += "="
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) == 0 {
		return "", errors.New("the key is not base64")
	}
	switch kind {
	case "whsec":
		mac := hmac.New(sha256.New, key)
		mac.Write(message)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
	case "whsk":
		if len(key) != ed25519.PrivateKeySize {
			return "", errors.New("the private key is not 64 bytes")
		}
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, message)), nil
	case "whpk":
		return "", errors.New("it is a public key, which only verifies; the sender keeps the private one")
	}
	return "", fmt.Errorf("keys of the kind %s_ are not known", kind)
}

// StandardBody builds a JSON object from values by their places, names with full stops between: "data.id" puts a value
// into the member id of the object data. Two places of which one lies inside the other are refused.
func StandardBody(values map[string]any) ([]byte, error) {
	root := map[string]any{}
	for place, value := range values {
		at := root
		names := strings.Split(place, ".")
		for _, name := range names[:len(names)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			inner, isObject := at[name].(map[string]any)
			if !isObject {
				return nil, fmt.Errorf("build body: %s lies inside another value", place)
			}
			at = inner
		}
		last := names[len(names)-1]
		if _, taken := at[last]; taken {
			return nil, fmt.Errorf("build body: %s is taken by another value", place)
		}
		at[last] = value
	}
	body, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("build body: %w", err)
	}
	return body, nil
}

// StandardID draws a message or payment id with the given prefix; it holds no full stop.
func (m *Maker) StandardID(prefix string) string { return m.id(prefix) }

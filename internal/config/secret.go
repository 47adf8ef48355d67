package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// redacted is what every printed form of a secret says.
const redacted = "***"

// Secret is a value that must not reach a log, an error or a screen: all its printed and encoded forms are "***".
// Only Reveal gives the bytes. A Secret made by Parse knows where its value is but does not hold it; Load reads it.
type Secret struct {
	// File is the absolute path of the file that holds the value; empty when Credential is set.
	File string
	// Credential is the name of a systemd credential (a file in $CREDENTIALS_DIRECTORY); empty when File is set.
	Credential string

	// held is a pointer to a string because fmt prints unexported fields without asking their methods: of such a
	// pointer it prints the address under every verb, where it would print a slice or what a pointer to one holds.
	held *string
}

// NewSecret holds a value that was made in this process, for callers that build a Config without a file.
func NewSecret(value []byte) Secret {
	held := string(value)
	return Secret{held: &held}
}

// Reveal returns a copy of the secret's bytes, without the newline that ended its file; nil before Load.
func (s Secret) Reveal() []byte {
	if s.held == nil {
		return nil
	}
	return []byte(*s.held)
}

// IsSet tells that the secret has a value or a place where it is kept.
func (s Secret) IsSet() bool { return s.File != "" || s.Credential != "" || s.held != nil }

// Source says where the value is kept, for messages.
func (s Secret) Source() string {
	if s.Credential != "" {
		return "credential " + s.Credential
	}
	return "file " + s.File
}

// String hides the value.
func (s Secret) String() string { return redacted }

// GoString hides the value from %#v.
func (s Secret) GoString() string { return redacted }

// Format hides the value from every verb, those that would print the bytes included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText hides the value from encoders that work on text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the value.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalYAML hides the value.
func (s Secret) MarshalYAML() (any, error) { return redacted, nil }

const (
	// maxSecretFile is far above any password or key; it keeps a wrong path (a log, a device) from being read whole.
	maxSecretFile = 64 << 10

	// othersMayRead are the permission bits that a secret's file must not have.
	othersMayRead = 0o077
	// othersMayReadCredential leaves out "group may read": systemd hands a credential to the service's user by an
	// access list, and the list's mask shows as 0440 in a directory that nobody else may enter.
	othersMayReadCredential = 0o037
)

// load reads the secret's value. problem is for people: what is wrong and what to do; empty when all is well.
func (s *Secret) load(credentialsDir string) (problem string) {
	path, forbidden, advice := s.File, os.FileMode(othersMayRead), "run: chmod 600 "+s.File
	if s.Credential != "" {
		if credentialsDir == "" {
			return fmt.Sprintf("credential %q cannot be looked up because CREDENTIALS_DIRECTORY is not set; "+
				"start by systemd with LoadCredential=%s:PATH, or use file: instead", s.Credential, s.Credential)
		}
		path, forbidden = filepath.Join(credentialsDir, s.Credential), othersMayReadCredential
		advice = "give it mode 0400"
	}
	value, problem := readPrivate(path, forbidden, advice)
	if problem != "" {
		return problem
	}
	value = bytes.TrimSuffix(value, []byte("\n"))
	switch {
	case len(value) == 0:
		return fmt.Sprintf("%s is empty; write the secret into it", path)
	case len(bytes.TrimSpace(value)) != len(value):
		return fmt.Sprintf("%s starts or ends with white space or a second line break; write the secret alone on one line", path)
	}
	held := string(value)
	s.held = &held
	return ""
}

// readPrivate reads a small regular file that only its owner may read. Permissions are asked of the open file, so
// that the file that is checked is the file that is read.
func readPrivate(path string, forbidden os.FileMode, advice string) (value []byte, problem string) {
	// The kind is asked first: opening a named pipe would wait for its writer.
	if about, err := os.Stat(path); err == nil && !about.Mode().IsRegular() {
		return nil, fmt.Sprintf("%s is not a regular file; name the file that holds the secret", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Sprintf("the secret cannot be read (%v); create the file or correct its path, readable by the service's user", err)
	}
	defer func() { _ = f.Close() }()
	about, err := f.Stat()
	if err != nil {
		return nil, fmt.Sprintf("the secret's permissions cannot be read (%v); correct the path", err)
	}
	if about.Mode().Perm()&forbidden != 0 {
		return nil, fmt.Sprintf("%s has mode %04o, so other users may read the secret; %s", path, about.Mode().Perm(), advice)
	}
	value, err = io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return nil, fmt.Sprintf("the secret cannot be read (%v); correct the path", err)
	}
	if len(value) > maxSecretFile {
		return nil, fmt.Sprintf("%s is larger than %d bytes; name the file that holds the secret alone", path, maxSecretFile)
	}
	return value, ""
}

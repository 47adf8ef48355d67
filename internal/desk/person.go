package desk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"creditonce/credit"
)

// PersonID names a person for good: it stands in histories and audit records, and is never given to anybody else.
type PersonID string

// Role is one thing that a person may do. No role implies another; with any of them a person may look at everything.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // looks
	Operator Role = "operator" // does what one person may do
	Maker    Role = "maker"    // proposes what takes two
	Checker  Role = "checker"  // confirms what another person proposed
	Admin    Role = "admin"    // proposes and confirms changes of people and keys; nothing about money
)

// Roles lists every role.
func Roles() []Role { return []Role{Viewer, Operator, Maker, Checker, Admin} }

// Person is somebody who acts. Users are the names of unix accounts; each belongs to one person only, so that nobody is
// two people by changing the account.
type Person struct {
	ID        PersonID  `json:"id"`
	Name      string    `json:"name"`
	Users     []string  `json:"users,omitempty"` // sorted
	Roles     []Role    `json:"roles,omitempty"` // sorted
	Disabled  bool      `json:"disabled,omitempty"`
	CreatedAt time.Time `json:"created_at"` // UTC
	UpdatedAt time.Time `json:"updated_at"` // UTC
}

// May tells whether the person has one of the roles and is not disabled.
func (p Person) May(roles ...Role) bool {
	return !p.Disabled && slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(p.Roles, r) })
}

// Actor is who asks: by the unix account at the other end of the socket, or as a person whom a page has signed in.
type Actor struct {
	User   string   // account name, from the peer's credentials
	UID    uint32   // of that account
	Person PersonID // set instead of User where somebody else has told who it is
}

// root tells whether the actor is the machine's owner.
func (a Actor) root() bool { return a.Person == "" && a.UID == 0 && a.User != "" }

var (
	personForm = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,31}$`)
	userForm   = regexp.MustCompile(`^[a-z_][a-z0-9_.-]{0,31}$`)
)

// whois finds the person behind an actor.
func whois(a Actor, people []Person) (Person, error) {
	for _, p := range people {
		if (a.Person != "" && p.ID == a.Person) || (a.Person == "" && a.User != "" && slices.Contains(p.Users, a.User)) {
			if p.Disabled {
				return Person{}, credit.Refuse("disabled", "%s is disabled", p.ID)
			}
			return p, nil
		}
	}
	switch {
	case len(people) == 0:
		return Person{}, credit.Refuse("nobody", "this store knows no people yet; root names the first two: creditonce people bootstrap")
	case a.Person != "":
		return Person{}, credit.Refuse("nobody", "there is no person %q", a.Person)
	}
	if a.User == "root" {
		return Person{}, credit.Refuse("nobody", "the account root belongs to no person, and none can have it; act from a person's own account")
	}
	return Person{}, credit.Refuse("nobody", "the account %q belongs to no person; two admins can add it", a.User)
}

// person finds a person by id; nil where there is none.
func person(id PersonID, people []Person) *Person {
	i := slices.IndexFunc(people, func(p Person) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &people[i]
}

// checkPerson refuses a person who cannot be kept beside the others.
func checkPerson(p Person, others []Person) error {
	if !personForm.MatchString(string(p.ID)) {
		return fmt.Errorf("person %q: an id is lower case letters, digits, . _ - and begins with a letter: %w", p.ID, credit.ErrInvalid)
	}
	if p.Name == "" || len(p.Name) > 200 {
		return fmt.Errorf("person %s: a name of 1 to 200 bytes is needed: %w", p.ID, credit.ErrInvalid)
	}
	if strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("person %s: the name %q has a character that nobody can see, so two names could look alike; write it without: %w", p.ID, p.Name, credit.ErrInvalid)
	}
	for _, o := range others {
		if o.ID != p.ID && strings.EqualFold(nameKey(o.Name), nameKey(p.Name)) {
			return credit.Refuse("same_name", "%s has the name %q already: one person is entered once, with every account; tell namesakes apart in their names", o.ID, o.Name)
		}
	}
	for _, r := range p.Roles {
		if !slices.Contains(Roles(), r) {
			return fmt.Errorf("person %s: there is no role %q; the roles are %s: %w", p.ID, r, roleList(Roles()), credit.ErrInvalid)
		}
	}
	for _, u := range p.Users {
		if !userForm.MatchString(u) {
			return fmt.Errorf("person %s: %q is no account name: %w", p.ID, u, credit.ErrInvalid)
		}
		if u == "root" {
			return credit.Refuse("root_user", "root is nobody's account: whoever can become root would be this person")
		}
		for _, o := range others {
			if o.ID != p.ID && slices.Contains(o.Users, u) {
				return credit.Refuse("user_taken", "the account %s belongs to %s", u, o.ID)
			}
		}
	}
	return nil
}

// nameKey is a full name without its blanks: nobody becomes two people by another spelling of one name.
func nameKey(name string) string { return strings.Join(strings.Fields(name), "") }

// list reads "a,b" as a sorted set.
func list[T ~string](text string) []T {
	var out []T
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, T(part))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changed applies the parameters of person.add and person.change to a person.
func changed(p Person, params map[string]string) (Person, error) {
	p.Users, p.Roles = slices.Clone(p.Users), slices.Clone(p.Roles)
	if v, ok := params["name"]; ok {
		p.Name = v
	}
	if v, ok := params["users"]; ok {
		p.Users = list[string](v)
	}
	if v, ok := params["roles"]; ok {
		p.Roles = list[Role](v)
	}
	switch v := params["disabled"]; v {
	case "":
	case "true", "false":
		p.Disabled = v == "true"
	default:
		return p, fmt.Errorf("person %s: disabled is true or false, not %q: %w", p.ID, v, credit.ErrInvalid)
	}
	return p, nil
}

// keepsTwoAdmins refuses a change after which nobody could change people any more.
func keepsTwoAdmins(people []Person, p Person) error {
	n := 0
	for _, o := range people {
		if o.ID == p.ID {
			o = p
		}
		if o.May(Admin) {
			n++
		}
	}
	if n < 2 {
		return credit.Refuse("two_admins", "two admins must stay: with fewer, people and keys could never be changed again")
	}
	return nil
}

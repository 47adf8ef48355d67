package recon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Numbers are logins or tickets of one MT5 server, ascending, each once. As JSON they are text, like every id.
type Numbers []uint64

// numbersOf makes them of what may be in any order and there twice; nil of none.
func numbersOf(all []uint64) Numbers {
	if len(all) == 0 {
		return nil
	}
	out := slices.Clone(all)
	slices.Sort(out)
	return slices.Compact(out)
}

// Meets tells that a number is in both.
func (n Numbers) Meets(other Numbers) bool {
	return slices.ContainsFunc(other, func(one uint64) bool {
		_, found := slices.BinarySearch(n, one)
		return found
	})
}

// MarshalJSON writes a list of texts.
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := make([]string, len(n))
	for i, one := range n {
		out[i] = strconv.FormatUint(one, 10)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a list of texts.
func (n *Numbers) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("read numbers of MT5: %w", err)
	}
	all := make([]uint64, len(list))
	for i, one := range list {
		number, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			return fmt.Errorf("read numbers of MT5: %w", err)
		}
		all[i] = number
	}
	*n = numbersOf(all)
	return nil
}

// UnseenRows are the credits on a login that MT5 does not have any more: done, and asked for no deal.
type UnseenRows struct {
	Identity string `json:"identity"` // the server's own name
	Login    uint64 `json:"login,string"`
	Credits  int    `json:"credits"`
}

// unseenRows counts rows by login.
type unseenRows map[string]map[uint64]int

func (u unseenRows) count(row *Row) {
	if u[row.Identity] == nil {
		u[row.Identity] = map[uint64]int{}
	}
	u[row.Identity][row.Login]++
}

// list gives them by server and login.
func (u unseenRows) list() (out []UnseenRows) {
	for identity, logins := range u {
		for login, n := range logins {
			out = append(out, UnseenRows{identity, login, n})
		}
	}
	slices.SortFunc(out, func(a, b UnseenRows) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Login, b.Login))
	})
	return out
}

// tellUnseen puts on the lists of deals which credits could not be compared, since MT5 does not have their logins any more.
func tellUnseen(run *Run) {
	for i := range run.Sources {
		s := &run.Sources[i]
		if s.List != ListDeals {
			continue
		}
		var notes []string
		logins, credits := 0, 0
		for _, u := range run.Outcome.Unseen {
			switch {
			case u.Identity != s.Entity:
			case len(notes) < mostNamed:
				notes = append(notes, fmt.Sprintf("login %d is not at MT5 any more (archived, or outside the manager's groups); its %s not compared",
					u.Login, plural(u.Credits, "credit was", "credits were")))
			default:
				logins, credits = logins+1, credits+u.Credits
			}
		}
		if logins > 0 {
			notes = append(notes, fmt.Sprintf("%s not at MT5 any more either; %s not compared",
				plural(logins, "more login is", "more logins are"), plural(credits, "credit on it was", "credits on them were")))
		}
		s.Notes = append(notes, s.Notes...)
	}
}

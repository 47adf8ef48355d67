package desk_test

import (
	"errors"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/internal/desk"
)

func TestPeople_OnePersonIsNotEnteredTwiceUnderAnotherAccount(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	ctx, root := t.Context(), desk.Actor{User: "root"}
	anna := func(id, name, user string) desk.Person {
		return desk.Person{ID: desk.PersonID(id), Name: name, Users: []string{user}, Roles: []desk.Role{desk.Admin}}
	}
	f.refused(f.svc.Bootstrap(ctx, root, []desk.Person{anna("anna", "Anna Lim", "anna"), anna("anna2", "anna  LIM", "anna2")}, "r"), "same_name")
	f.Must(f.svc.Bootstrap(ctx, root, []desk.Person{anna("anna", "Anna Lim", "anna"), anna("ben", "Ben Koh", "ben")}, "r"))
	add := desk.Act{Kind: desk.AddPerson, Subject: "person/a2", Params: map[string]string{"name": "Anna Lim", "users": "x", "roles": "checker"}}
	_, err := f.svc.Submit(ctx, by("anna"), add, "r")
	f.refused(err, "same_name")
	rename := desk.Act{Kind: desk.ChangePerson, Subject: "person/ben", Params: map[string]string{"name": "Anna Lim"}}
	_, err = f.svc.Submit(ctx, by("anna"), rename, "r")
	f.refused(err, "same_name")
	for _, hidden := range []string{"Anna\u200b Lim", "Anna\u00adLim", "Anna Lim\n", "Anna\x1b[31m", "\u202eAnna"} { // looks like another's, or spoils a terminal
		add.Params["name"] = hidden
		if _, err := f.svc.Submit(ctx, by("anna"), add, "r"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%q: %v", hidden, err)
		}
	}
	twins := []desk.Person{anna("anna", "Anna Lim", "anna"), anna("anna", "Ben Koh", "ben")}
	if err := newFirm(t).svc.Bootstrap(ctx, root, twins, "r"); !errors.Is(err, credit.ErrInvalid) || !strings.Contains(err.Error(), `both people have the id "anna"`) {
		t.Errorf("one id twice: %v", err)
	}
	add.Params["name"] = "Anna Lim (London)"
	f.two("anna", "ben", add)
	_, err = f.svc.Who(ctx, root)
	f.refused(err, "nobody")
}

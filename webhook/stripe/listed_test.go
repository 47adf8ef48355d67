package stripe

import (
	"reflect"
	"slices"
	"testing"
)

// Every type that can move money is listed, and no other: a type that is added to the readers must be decided on here.
func TestListedTypes_AreAllThatCanChangeACredit(t *testing.T) {
	t.Parallel()
	listed := ListedTypes()
	if len(listed) > 20 {
		t.Errorf("%d types, and a list takes 20", len(listed))
	}
	quiet := []uintptr{reflect.ValueOf(quietSession).Pointer(), reflect.ValueOf(quietIntent).Pointer(), reflect.ValueOf(quietCharge).Pointer()}
	for name, read := range readers {
		if moves := !slices.Contains(quiet, reflect.ValueOf(read).Pointer()); moves != slices.Contains(listed, name) {
			t.Errorf("%s: moves money %t, listed %t", name, moves, !moves)
		}
	}
	for _, name := range listed {
		if readers[name] == nil {
			t.Errorf("%s is listed and nobody reads it", name)
		}
	}
}

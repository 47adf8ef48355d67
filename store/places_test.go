package store

import (
	"fmt"
	"testing"
)

// Few or many, in one bucket or in several: what was added is there, and nothing else.
func TestPlaces_HoldWhatWasAdded(t *testing.T) {
	t.Parallel()
	var s places
	name := func(i int) (string, []byte) { return []string{"a", "b", "ab"}[i%3], fmt.Appendf(nil, "key\x00%d", i) }
	const n = 4 * fewPlaces
	for i := range n {
		bucket, k := name(i)
		if s.has(bucket, k) {
			t.Fatalf("key %d is there before it was added", i)
		}
		s.add(bucket, k)
		for j := range n {
			bucket, k := name(j)
			if got := s.has(bucket, k); got != (j <= i) {
				t.Fatalf("after %d keys: has key %d: %v", i+1, j, got)
			}
			if s.has("other", k) {
				t.Fatalf("after %d keys: key %d is in another bucket too", i+1, j)
			}
		}
	}
}

package stage

import (
	"testing"
	"time"
)

func TestPorts_AreFreeAndNeverGivenTwice(t *testing.T) {
	t.Parallel()
	c := NewPorts(uint64(time.Now().UnixNano()))
	seen := map[int]bool{}
	for range 50 {
		var one, two int
		if err := c.Take(&one, &two); err != nil {
			t.Fatal(err)
		}
		for _, port := range []int{one, two} {
			if seen[port] || port < lowestPort || port >= highestPort {
				t.Fatalf("port %d was given before, or is out of range", port)
			}
			seen[port] = true
		}
	}
}

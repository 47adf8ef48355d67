//go:build race

package credit

// modelRaced tells that the race detector runs: the searches have one goroutine, and it makes them ten times slower.
const modelRaced = true

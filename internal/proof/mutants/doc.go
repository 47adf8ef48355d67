// Command mutants breaks the product on purpose, one small change at a time, and runs the harness that is there to catch
// that change. A mutant that survives is a hole in the proof: the command then ends with exit code 1.
//
//	go run ./internal/proof/mutants               all of them
//	go run ./internal/proof/mutants -share 2/3    the second third, by turns
//	go run ./internal/proof/mutants -only NAME
//	go run ./internal/proof/mutants -list
//
// The product's source stays as it is. Every change is behind a switch in an overlay (go help build, -overlay), so that each
// harness is built once for all mutants; the environment variable CREDITONCE_MUTANT says which one is on. With none on the
// overlaid harness must pass, and is run so first: a harness that fails by itself catches nothing.
package main

//go:build !benchnocommit

package store

// commitLeftOut is false in every build but the one that measures what a commit costs (commit_leftout.go).
func commitLeftOut() bool { return false }

//go:build !faultpoints

package store

// ownThread leaves the committer to whatever thread runs it.
func ownThread() {}

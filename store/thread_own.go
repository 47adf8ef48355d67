//go:build faultpoints

package store

import "runtime"

// ownThread keeps the committer on one thread for its whole life: whoever counts its system calls from outside, to let the
// n-th fail, counts by thread.
func ownThread() { runtime.LockOSThread() }

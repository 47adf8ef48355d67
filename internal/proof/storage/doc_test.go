// Package storage holds the proof of the store under system calls that fail: strace lets the n-th write, sync or growth of
// the store's file fail, or kills the program there, for n = 1, 2, 3 and so on until a run meets none. After an error the
// program must end and may acknowledge nothing more; after the next start everything that was acknowledged must be there,
// and no payment may have two deals.
//
//	go test ./internal/proof/storage -stride=1 -v     every n, not only one in a few
//
// A second proof takes the record that strace makes of the writes and syncs of a run, and starts on what a lost power could
// leave of them at every moment: any subset of the writes since the last sync, the last one torn.
//
//	CREDITONCE_CRASH_IMAGES=20000 go test ./internal/proof/storage -run TestPowerLoss -v
//
// strace counts by thread, so the program is the one with the tag faultpoints, in which the committer stays on one thread.
// Without strace the tests are skipped: apt-get install strace.
package storage

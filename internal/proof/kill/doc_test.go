// Package kill holds the kill harness: the program itself as a process, a fake MT5 server and a simulated provider as
// processes with fsynced journals of their own, and a TCP proxy between the program and MT5. While deposits are made and
// paid all the time, the program is killed, stopped, starved of its disk, cut from MT5 and started again; then everything
// settles, and the three journals are compared.
//
//	go test ./internal/proof/kill -run TestKill -cycles=500 -v
//	go test ./internal/proof/kill -run TestKill -seed=7 -cycles=20 -v     the same plan again
//
// A seed gives the same plan: which fault at which cycle, with which numbers. It does not give the same run: processes are
// scheduled by the system. The folder of a round that failed is kept, and named.
package kill

// Package bench measures what this machine's disk and processors allow: how often the disk syncs, how many webhooks the
// real listener takes, how long one waits at 100 a second, how many rows reach MT5 and come back done. Each figure
// stands beside a limit that was measured in the same run, since only the ratio can be compared between machines.
//
// The service is the product's own, wired by internal/app from a configuration like any other, in a process of its own;
// the load and the fake MT5 server have processes of their own too, so that the share of each in the processors' time
// is known. Everything happens in one temporary folder, on loopback, with simulated money, and nothing is left behind.
package bench

// Package arena is the world in which whole programs are put to the proof: a work folder, a fake MT5 server and a simulated
// provider as processes with fsynced journals of their own, a TCP proxy that breaks connections, a portal and clients that
// make and pay deposits all the time, and the comparison of the journals when everything has come to rest. Only tests use
// it.
package arena

// Package demo shows creditonce at work and measures it: it runs `serve`, a fake MT5 server and a simulated payment
// provider as three child processes of this very program, over TLS and with real signatures, lets a scenario's
// failure happen (a crash is a real SIGKILL), and compares afterwards what MT5 and the provider wrote into their own
// journals with what the scenario promises and with what the store says.
//
// The parts: stage (a folder with keys, certificates and a configuration), child (one process), portal (the firm's own
// server, as a client of the API), board (what the log of serve tells about each deposit), show (one run of one
// scenario), scenario (the table and what each one does), verdict (the comparison), view (what a person sees).
//
// Money here is simulated, and waiting times are far shorter than what is safe against a real MT5 server.
package demo

// Package faultproxy is a TCP proxy that breaks connections on purpose, for tests that put it between the service and an
// MT5 server. It sees bytes, not requests: what it forwards is TLS. A burst is what one read from the client returned; a
// client that writes one request at a time and waits for its answer makes one burst of each.
package faultproxy

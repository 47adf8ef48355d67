package webhook

import (
	"net/http"
	"time"
)

// Server returns the HTTP server for the public listener: HTTP/1.1 only, with limits on every phase
// of a request (security.md §6.2; echo's defaults set none). The caller listens, adds TLS and an
// ErrorLog, and shuts it down.
func Server(h http.Handler) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		Protocols:         &protocols,
	}
}

// Package admin is the operators' unix socket: HTTP/1.1 and JSON over a file that only the service's user and one
// group can open, and the client that the command line uses. The kernel says which unix user calls; which person that
// is, and what the person may do, is decided by internal/desk alone. Every route is one call of it. Nothing here is
// reachable over TCP, and no API key of the portal reaches it.
package admin

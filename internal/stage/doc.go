// Package stage holds what the demo and the tests that run whole programs need of the system: child processes that never
// outlive their parent, loopback ports that stay theirs over a restart, secrets and certificates. It knows nothing of the
// product.
package stage

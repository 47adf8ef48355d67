// Package ask asks a payment provider's API: what every provider's client does alike. It makes the requests, repeats them where that can
// help, says why there is no answer, and takes a JSON answer apart by the exact names of its members. What a provider's answers mean is
// its own package's to say (internal/psp/stripe, internal/psp/paypal). It imports the standard library only.
//
// What it promises: requests only read, so they are repeated, and never followed elsewhere; an address with a secret in it is refused; no
// error holds an address, a secret or a piece of an answer that the provider's package did not pick.
package ask

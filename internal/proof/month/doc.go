// Package month makes one month of a broker's life from a seed: payments over several providers, what the providers settled of them, the
// credit rows, the deals on the MT5 servers, and the firm's books over all of it. Into that it plants faults of every class of
// reconciliation, and it knows what a comparison must find, to the minor unit.
//
// It is the oracle of reconciliation, so it shares no code with what it judges. Of package recon it uses the plain types only, of package
// credit the reference of a unit, which is the product's identity. Its calendar (the business zone, the clock of the MT5 servers), its
// arithmetic, its books and its files are its own, written from the papers.
package month

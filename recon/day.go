package recon

// Day is one business day, written as in "2026-11-29". Which hours it has depends on the business zone.
type Day string

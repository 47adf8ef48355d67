// Package mapped reads any CSV export whose form the config describes: cashiers, wallets, crypto processors and acquirers send their own, and
// most of them change without notice. Everything that the config does not say is refused, not guessed.
package mapped

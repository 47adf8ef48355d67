// Package faultpoints ends or stops the process at a named boundary of the protocol (credit.Step), as the environment
// variable CREDITONCE_FAULT says. internal/app uses it only when it is built with the tag faultpoints; the program that is
// shipped holds nothing of it.
package faultpoints

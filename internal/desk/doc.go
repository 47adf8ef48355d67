// Package desk is what people decide: one service for the admin socket, the command line and the pages. An act is data; a
// table says who may do it alone and what takes two people. Two people means a proposal, bound to the hash of what it
// would do and of the state it was made on, and its confirmation by another person. Every rule is checked by pure
// functions inside the store's write transaction; each act leaves an audit record, chained to the one before.
//
// The package knows package credit and nothing else: the store brings it what it decides on, and MT5 is asked through an
// interface of its own.
package desk

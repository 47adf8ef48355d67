//go:build !benchnocommit

package bench

// canLeaveOut tells whether this build's store can leave its commits out.
const canLeaveOut = false

//go:build !race

package credit

const modelRaced = false

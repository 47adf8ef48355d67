package store

import (
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// room is what the disk allows, measured before a batch.
type room struct {
	stopClaims   bool // settle what is open, claim nothing
	refuseIntake bool // take no new work
	tight        bool // let reconciliation add nothing
}

// gauge measures the room for the store's file. What cannot be measured counts as full.
type gauge struct {
	path         string
	bolt         *bolt.DB
	pageSize     int
	maxSize      int64 // 0: no limit but the disk's
	stopClaims   uint64
	refuseIntake uint64
	free         func(dir string) (uint64, error)
}

// measure compares the room with the floors. Without floors nothing is measured.
func (g *gauge) measure() room {
	if g.stopClaims == 0 && g.refuseIntake == 0 {
		return room{}
	}
	left, err := g.left()
	if err != nil {
		return room{stopClaims: true, refuseIntake: true, tight: true}
	}
	return room{stopClaims: left < g.stopClaims, refuseIntake: left < g.refuseIntake, tight: left < g.reconFloor()}
}

// left is how many bytes the store can still take: what the disk has, and no more than the file may grow by,
// and what is free inside the file already.
func (g *gauge) left() (uint64, error) {
	left, err := g.free(filepath.Dir(g.path))
	if err != nil {
		return 0, err
	}
	if g.maxSize > 0 {
		info, err := os.Stat(g.path)
		if err != nil {
			return 0, err
		}
		left = min(left, uint64(max(0, g.maxSize-info.Size())))
	}
	inside := g.bolt.Stats().FreePageN
	return left + uint64(max(0, inside))*uint64(g.pageSize), nil
}

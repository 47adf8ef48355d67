package store

import (
	"fmt"
	"path/filepath"

	"creditonce/credit"
	"creditonce/recon"
)

// reconPiece is more than one transaction of reconciliation takes: 400 lines are spread over some thousand pages, and the file grows in
// steps of 16 MiB.
const reconPiece = 16 << 20

// reconFloor is the room below which reconciliation adds nothing: half as much again as the floor below which no payment is claimed, and a
// piece. So what it stores never stops payments, and leaves them room to go on until people have made more.
func (g *gauge) reconFloor() uint64 {
	floor := max(g.stopClaims, g.refuseIntake)
	return floor + floor/2 + reconPiece
}

// hasRoom refuses what reconciliation would add while the room is tight.
func (w *writer) hasRoom() error {
	if !w.tight {
		return nil
	}
	return fmt.Errorf("the reconciliation stores nothing more: there is less room than %s: %w", kept, credit.ErrBusy)
}

// kept is what the messages call the floor, with what to do.
const kept = "payments keep for themselves (half as much again as space.stop_claims_below); make room on the disk of data_dir or raise space.max_store"

var _ recon.Room = (*DB)(nil)

// RoomInStore implements [recon.Room].
func (db *DB) RoomInStore(need uint64) error { return db.roomFor(need, "in the store", db.gauge.left) }

// RoomOnDisk implements [recon.Room].
func (db *DB) RoomOnDisk(need uint64) error {
	return db.roomFor(need, "on the disk", func() (uint64, error) { return db.gauge.free(filepath.Dir(db.path)) })
}

func (db *DB) roomFor(need uint64, where string, measure func() (uint64, error)) error {
	if db.gauge.stopClaims == 0 && db.gauge.refuseIntake == 0 {
		return nil
	}
	left, err := measure()
	if err != nil {
		return fmt.Errorf("the room for %d bytes cannot be measured: %w: %w", need, credit.ErrBusy, err)
	}
	floor := db.gauge.reconFloor()
	if over := left - min(left, floor); left < floor || over < need {
		return fmt.Errorf("this needs about %d MiB %s, and there are %d MiB above what %s: %w", (need+1<<20-1)>>20, where, over>>20, kept, credit.ErrBusy)
	}
	return nil
}

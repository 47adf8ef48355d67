package recon

import "context"

// Room tells whether there is room for what is about to be written, beside what payments need for themselves. Both answers hold credit.ErrBusy
// where there is not, and say what to do; need is in bytes, 0 asks whether anything fits. It is safe for concurrent use.
type Room interface {
	// RoomInStore is about what the store would take.
	RoomInStore(need uint64) error
	// RoomOnDisk is about files beside the store.
	RoomOnDisk(need uint64) error
}

// What statements take in the store: for each byte of a file, and for each line that was pulled. Measured were 13 to 17 bytes, and 1.2 KB.
const (
	storedPerByte = 16
	storedPerLine = 2 << 10
)

// roomInStore asks where there is somebody to ask.
func roomInStore(r Room, need uint64) error {
	if r == nil {
		return nil
	}
	return r.RoomInStore(need)
}

type roomOfLists struct{}

// withRoom lets every list that is spooled under the context ask for room on the disk before it writes a piece: the lists of a run are as large
// as the store, and lie beside it.
func withRoom(ctx context.Context, r Room) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, roomOfLists{}, r)
}

func roomOnDisk(ctx context.Context, need int64) error {
	r, ok := ctx.Value(roomOfLists{}).(Room)
	if !ok {
		return nil
	}
	return r.RoomOnDisk(uint64(need))
}

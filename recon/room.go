package recon

// Room tells whether there is room for what is about to be written, beside what payments need for themselves. Both answers hold credit.ErrBusy
// where there is not, and say what to do; need is in bytes, 0 asks whether anything fits. It is safe for concurrent use.
type Room interface {
	// RoomInStore is about what the store would take.
	RoomInStore(need uint64) error
	// RoomOnDisk is about files beside the store.
	RoomOnDisk(need uint64) error
}

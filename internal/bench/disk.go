package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// block is what the disk is measured with: the size of a page of the store.
const block = 4096

// allocated is how many blocks are overwritten in turn.
const allocated = 256

// Syncs is how the disk answers 4 KiB writes with a sync after each, one after the other.
type Syncs struct {
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// Disk is the disk under the folder, measured before and after everything else; each figure is the mean of both.
type Disk struct {
	Overwrite Syncs `json:"overwrite"` // of allocated blocks, with fdatasync where the system has it: the yardstick
	Append    Syncs `json:"append"`    // to a growing file
}

func (d Disk) meanWith(o Disk) Disk {
	mean := func(a, b Syncs) Syncs {
		return Syncs{(a.PerSecond + b.PerSecond) / 2, (a.P50 + b.P50) / 2, (a.P99 + b.P99) / 2}
	}
	return Disk{mean(d.Overwrite, o.Overwrite), mean(d.Append, o.Append)}
}

// measureDisk spends the span on each way of writing.
func measureDisk(ctx context.Context, dir string, span time.Duration) (d Disk, err error) {
	path := filepath.Join(dir, "syncs")
	defer func() { _ = os.Remove(path) }()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return d, fmt.Errorf("measure the disk: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write(make([]byte, block*allocated)); err != nil {
		return d, fmt.Errorf("measure the disk: %w", err)
	}
	if err := f.Sync(); err != nil {
		return d, fmt.Errorf("measure the disk: %w", err)
	}
	if d.Overwrite, err = syncRate(ctx, f, span, func(n int) int64 { return int64(n%allocated) * block }); err != nil {
		return d, err
	}
	d.Append, err = syncRate(ctx, f, span, func(n int) int64 { return int64(allocated+n) * block })
	return d, err
}

func syncRate(ctx context.Context, f *os.File, span time.Duration, place func(int) int64) (Syncs, error) {
	var took []time.Duration
	page := make([]byte, block)
	begun := time.Now()
	for n := 0; time.Since(begun) < span || n < 20; n++ {
		if err := ctx.Err(); err != nil {
			return Syncs{}, err
		}
		page[n%block]++
		at := time.Now()
		if _, err := f.WriteAt(page, place(n)); err != nil {
			return Syncs{}, fmt.Errorf("measure the disk: %w", err)
		}
		if err := syncData(f); err != nil {
			return Syncs{}, fmt.Errorf("measure the disk: %w", err)
		}
		took = append(took, time.Since(at))
	}
	rate := float64(len(took)) / time.Since(begun).Seconds()
	p50, p99 := quantiles(took)
	return Syncs{rate, milliseconds(p50), milliseconds(p99)}, nil
}

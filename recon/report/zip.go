package report

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// steadyZip writes the entries of a workbook in one order and with one time, so that the same report is the same file: the library hands over
// its sheets in the order of a map. It keeps the entries compressed until all are there.
type steadyZip struct {
	out     *zip.Writer
	at      time.Time
	entries []*packed
	open    *packed
}

// packed is one compressed entry.
type packed struct {
	name  string
	data  bytes.Buffer
	sum   hash.Hash32
	size  uint64
	flate *flate.Writer
}

// Write compresses.
func (p *packed) Write(b []byte) (int, error) {
	_, _ = p.sum.Write(b)
	p.size += uint64(len(b))
	return p.flate.Write(b)
}

// Create begins an entry and ends the one before.
func (z *steadyZip) Create(name string) (io.Writer, error) {
	if err := z.end(); err != nil {
		return nil, err
	}
	p := &packed{name: name, sum: crc32.NewIEEE()}
	var err error
	if p.flate, err = flate.NewWriter(&p.data, flate.DefaultCompression); err != nil {
		return nil, err
	}
	z.open = p
	z.entries = append(z.entries, p)
	return p, nil
}

// AddFS is part of the library's interface and not used by it.
func (z *steadyZip) AddFS(fs.FS) error { return errors.ErrUnsupported }

func (z *steadyZip) end() error {
	if z.open == nil {
		return nil
	}
	p := z.open
	z.open = nil
	return p.flate.Close()
}

// Close writes the entries: the list of content types first, as readers expect it, then by name.
func (z *steadyZip) Close() error {
	if err := z.end(); err != nil {
		return err
	}
	slices.SortFunc(z.entries, func(a, b *packed) int { return strings.Compare(entryOrder(a.name), entryOrder(b.name)) })
	for _, p := range z.entries {
		head := &zip.FileHeader{Name: p.name, Method: zip.Deflate, CRC32: p.sum.Sum32(), CompressedSize64: uint64(p.data.Len()), UncompressedSize64: p.size}
		head.SetModTime(z.at) //nolint:staticcheck // a raw entry takes its time from the old fields only
		w, err := z.out.CreateRaw(head)
		if err != nil {
			return err
		}
		if _, err := p.data.WriteTo(w); err != nil {
			return err
		}
	}
	return z.out.Close()
}

func entryOrder(name string) string {
	if name == "[Content_Types].xml" {
		return ""
	}
	return name
}

// write packs the workbook.
func (b *book) write(w io.Writer) error {
	at := b.data.Run.Finished.UTC()
	if at.Year() < 1980 || at.Year() > 2107 { // what the format can say
		at = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	b.file.SetZipWriter(func(w io.Writer) excelize.ZipWriter { return &steadyZip{out: zip.NewWriter(w), at: at} })
	if err := b.file.Write(w); err != nil {
		return fmt.Errorf("pack the workbook of run %d: %w", b.data.Run.ID, err)
	}
	return nil
}

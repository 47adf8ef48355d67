package recon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// fakeRoom has so many bytes.
type fakeRoom struct{ inStore, onDisk uint64 }

var errFull = fmt.Errorf("too little room: %w", credit.ErrBusy)

func (r *fakeRoom) RoomInStore(need uint64) error {
	if need > r.inStore {
		return errFull
	}
	return nil
}

func (r *fakeRoom) RoomOnDisk(need uint64) error {
	if need > r.onDisk {
		return errFull
	}
	r.onDisk -= need
	return nil
}

// The lists of a run never fill the disk: each piece asks first.
func TestK_ListsThatDoNotFitBesideTheStore_EndTheRun(t *testing.T) {
	t.Parallel()
	const pieces = 300 // more than are merged at once
	fill := func(room uint64) error {
		s := newSpool(withRoom(t.Context(), &fakeRoom{onDisk: room}), t.TempDir(), 4<<10)
		defer func() { _ = s.close() }()
		for n := range pieces * 20 {
			if err := s.put(fmt.Appendf(nil, "%09d", n), make([]byte, 60)); err != nil {
				return err
			}
		}
		for _, err := range s.sorted() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := fill(64 << 20); err != nil {
		t.Errorf("with room: %v", err)
	}
	for _, room := range []uint64{0, 1, 10 << 10, 200 << 10, 500 << 10} {
		if err := fill(room); !errors.Is(err, credit.ErrBusy) {
			t.Errorf("with %d bytes: %v", room, err)
		}
	}
}

// fewLines reads one line for each line of the file.
type fewLines struct{}

func (fewLines) Read(_ context.Context, in io.Reader, emit func(Line) error) (Statement, error) {
	text, err := io.ReadAll(in)
	s := Statement{Name: "s.csv", Digest: "d1"}
	for range strings.Lines(string(text)) {
		s.Rows++
		if err == nil {
			err = emit(Line{Type: LinePayment, Payment: "p1", Row: s.Rows, At: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)})
		}
	}
	return s, err
}

// importBook counts what an import does.
type importBook struct {
	StatementBook
	begun, dropped int
	finish         error
}

func (b *importBook) BeginImport(context.Context, Provider, string) (StatementID, Imported, bool, error) {
	b.begun++
	return 1, Imported{}, false, nil
}
func (b *importBook) AddLines(context.Context, StatementID, []Line) error { return nil }
func (b *importBook) DropImport(context.Context, StatementID) error       { b.dropped++; return nil }
func (b *importBook) FinishImport(context.Context, StatementID, Statement, string, time.Time) (Imported, error) {
	return Imported{}, b.finish
}

func TestK2_AnImportLooksForRoomBeforeItBegins_AndDropsWhatItCannotFinish(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\n"
	now := func() time.Time { return time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC) }
	file := func(b *importBook, room uint64) error {
		im := Importer{Book: b, Now: now, Room: &fakeRoom{inStore: room}}
		_, _, err := im.File(t.Context(), FileWish{Name: "s.csv", Reader: func() (Reader, error) { return fewLines{}, nil }}, strings.NewReader(text), nil)
		return err
	}
	pulled := func(b *importBook, room uint64) error {
		im := Importer{Book: b, Now: now, Room: &fakeRoom{inStore: room}}
		_, _, err := im.Pulled(t.Context(), Provider{Label: "psp"}, func(emit func(Line) error) (Statement, error) {
			return fewLines{}.Read(t.Context(), strings.NewReader(text), emit)
		}, BySchedule)
		return err
	}
	for name, c := range map[string]struct {
		do   func(*importBook, uint64) error
		need uint64
	}{"a file": {file, 16 * uint64(len(text))}, "a pull": {pulled, 3 * 2048}} {
		b := &importBook{}
		if err := c.do(b, c.need-1); !errors.Is(err, credit.ErrBusy) || b.begun != 0 {
			t.Errorf("%s that does not fit: %v, begun %d times", name, err, b.begun)
		}
		if err := c.do(b, c.need); err != nil || b.begun != 1 || b.dropped != 0 {
			t.Errorf("%s that fits: %v, %+v", name, err, b)
		}
		b = &importBook{finish: errFull}
		if err := c.do(b, c.need); !errors.Is(err, credit.ErrBusy) || b.dropped != 1 {
			t.Errorf("%s that could not be finished: %v, dropped %d times", name, err, b.dropped)
		}
	}
}

package recon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"creditonce/credit"
)

// pieceOfLines bounds the lines of one transaction, so that an import neither holds intake up nor leaves a long free list.
const pieceOfLines = 400

// mostPulled bounds what one pull keeps in memory before it is stored.
const mostPulled = 200_000

// Importer brings statements into the store: a whole one or nothing. It is safe for concurrent use; two imports of one file give one.
type Importer struct {
	Book StatementBook
	Now  func() time.Time
	Room Room // nil: it is not looked at
	Step Step // nil: nobody is told
}

// FileWish says what to import.
type FileWish struct {
	Provider   Provider
	Name       string                 // of the file, for messages
	By         string                 // who imports it: the person's id
	Reader     func() (Reader, error) // makes a reader for each pass
	Incomplete bool                   // take it although lines may be missing
}

// Progress tells how far a long step is. Total is 0 where nobody knows it yet.
type Progress struct {
	Step        string
	Done, Total int
}

// File imports a statement file. It is read twice: once to see that it is whole and sound, and only then a second time into the store; so a
// file that cannot be imported (*FileError) has touched nothing. done is true when the same bytes were
// imported before, then nothing changes. A statement that says itself that lines may be missing is refused unless a person takes it as it is: then the list of the provider is not complete until a whole one reaches as far.
func (im *Importer) File(ctx context.Context, w FileWish, file io.ReadSeeker, progress func(Progress)) (_ Imported, done bool, err error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if err := im.fits(w.Name, file); err != nil {
		return Imported{}, false, err
	}
	checked, err := im.Check(ctx, w, file, progress)
	if err != nil {
		return Imported{}, false, err
	}
	first := checked.Statement
	if first.Incomplete != "" && !w.Incomplete {
		return Imported{}, false, &FileError{Name: first.Name, Text: first.Incomplete + "; nothing was imported. Get the whole statement from the provider. If it is whole and the provider writes it so, " +
			"import it with --incomplete: the list then counts as complete only once a whole statement reaches as far"}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Imported{}, false, fmt.Errorf("read %s a second time: %w", first.Name, err)
	}
	read := func(emit func(Line) error) (Statement, error) {
		again, err := w.Reader()
		if err != nil {
			return Statement{}, err
		}
		s, err := again.Read(ctx, file, emit)
		if err == nil && s.Digest != first.Digest {
			err = &FileError{Name: s.Name, Text: "it changed while it was read; import it again once nobody writes to it"}
		}
		return s, err
	}
	return im.store(ctx, w.Provider, first.Digest, read, w.By, func(n int) { progress(Progress{Step: "store the lines", Done: n, Total: first.Rows}) })
}

// fits refuses a file that would take more of the store than there is beside what payments need.
func (im *Importer) fits(name string, file io.Seeker) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = roomInStore(im.Room, uint64(size)*storedPerByte)
	}
	if err != nil {
		return fmt.Errorf("import %s: nothing was imported: %w", name, err)
	}
	return nil
}

// Pulled imports what a pull gives. Its lines are kept in memory until it is whole: at most 200,000.
func (im *Importer) Pulled(ctx context.Context, p Provider, pull func(emit func(Line) error) (Statement, error), by string) (_ Imported, done bool, err error) {
	var lines []Line
	now := im.Now()
	s, err := pull(func(l Line) error {
		if err := dated("the pulled list", l, now); err != nil {
			return err
		}
		if len(lines) >= mostPulled {
			return fmt.Errorf("more than %d lines in one window of %s: pull shorter ones: %w", mostPulled, p.Label, credit.ErrInvalid)
		}
		lines = append(lines, l)
		return nil
	})
	if err == nil {
		err = roomInStore(im.Room, uint64(len(lines))*storedPerLine)
	}
	if err != nil {
		return Imported{}, false, err
	}
	read := func(emit func(Line) error) (Statement, error) {
		for _, l := range lines {
			if err := emit(l); err != nil {
				return s, err
			}
		}
		return s, nil
	}
	return im.store(ctx, p, s.Digest, read, by, func(int) {})
}

// store writes the lines in pieces and makes them visible at the end, all at once.
func (im *Importer) store(ctx context.Context, p Provider, digest string, read func(emit func(Line) error) (Statement, error), by string, stored func(int)) (Imported, bool, error) {
	id, before, done, err := im.Book.BeginImport(ctx, p, digest)
	if err != nil || done {
		return before, done, err
	}
	var piece []Line
	n := 0
	flush := func() error {
		if len(piece) == 0 {
			return nil
		}
		if err := im.Book.AddLines(ctx, id, piece); err != nil {
			return err
		}
		im.Step.at(ctx, StepLinesStored)
		n += len(piece)
		piece = piece[:0]
		stored(n)
		return nil
	}
	s, err := read(func(l Line) error {
		l.Digest = digest // a reader knows it at the end only
		piece = append(piece, l)
		if len(piece) < pieceOfLines {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	var out Imported
	if err == nil {
		out, err = im.Book.FinishImport(ctx, id, s, by, im.Now())
	}
	if err != nil {
		return Imported{}, false, errors.Join(err, im.Book.DropImport(context.WithoutCancel(ctx), id))
	}
	im.Step.at(ctx, StepStatementSeen)
	return out, false, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", n, many))
}

// Retyped gives a line the type that the firm has answered for the provider's word, where the reader did not know it.
func Retyped(l Line, answers map[string]LineType) Line {
	if l.Type == LineUnknown {
		if t, ok := answers[l.Word]; ok {
			l.Type = t
			l.Shape()
		}
	}
	return l
}

package recon

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"creditonce/credit"
)

// Checked is what a statement file says before anything of it is stored.
type Checked struct {
	Statement Statement `json:"statement"`
	Sums      []LineSum `json:"sums"` // in the order in which the types first come
}

// LineSum adds up the lines of one type: what a person compares with the provider's own figures before the first import.
type LineSum struct {
	Type  LineType        `json:"type"`
	Rows  int             `json:"rows"`
	Gross []credit.Amount `json:"gross"` // by currency, as they first come
	Net   []credit.Amount `json:"net"`
	First time.Time       `json:"first"` // UTC: the earliest moment, and the latest
	Last  time.Time       `json:"last"`
}

// How far a line may be dated ahead of the clock: clocks differ by a little, and a payout is announced before it arrives.
const (
	aheadHappened = 26 * time.Hour
	aheadSettled  = 60 * 24 * time.Hour
)

// oldest is before every payment provider; a date before it is a wrong mapping.
var oldest = time.Date(1995, time.January, 1, 0, 0, 0, 0, time.UTC)

// dated refuses a line whose time cannot be: it would be compared with no day, and make the list seem to reach further than it does.
func dated(name string, l Line, now time.Time) error {
	shown := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
	switch {
	case l.At.After(now.Add(aheadHappened)):
		return &FileError{Name: name, Row: l.Row, Text: fmt.Sprintf("the row is dated %s, which has not come yet (now it is %s); correct the file, or the layout of its times", shown(l.At), shown(now))}
	case l.SettledAt.After(now.Add(aheadSettled)):
		return &FileError{Name: name, Row: l.Row, Text: fmt.Sprintf("the row is settled at %s, more than sixty days ahead; correct the file, or the layout of its times", shown(l.SettledAt))}
	case l.At.Before(oldest), !l.SettledAt.IsZero() && l.SettledAt.Before(oldest):
		return &FileError{Name: name, Row: l.Row, Text: fmt.Sprintf("the row is dated %s; correct the file, or the layout of its times", shown(l.At))}
	}
	return nil
}

// Check reads a whole file and stores nothing. It refuses (*FileError) what File refuses, save that the statement may be incomplete.
func (im *Importer) Check(ctx context.Context, w FileWish, file io.Reader, progress func(Progress)) (Checked, error) {
	var out Checked
	r, err := w.Reader()
	if err != nil {
		return out, err
	}
	now, seen := im.Now(), 0
	s, err := r.Read(ctx, file, func(l Line) error {
		if seen++; seen%5000 == 0 && progress != nil {
			progress(Progress{Step: "check the file", Done: seen})
		}
		if err := dated(w.Name, l, now); err != nil {
			return err
		}
		return out.add(l)
	})
	if err != nil {
		return Checked{}, err
	}
	out.Statement = s
	return out, nil
}

// add counts a line.
func (c *Checked) add(l Line) error {
	i := slices.IndexFunc(c.Sums, func(s LineSum) bool { return s.Type == l.Type })
	if i < 0 {
		c.Sums = append(c.Sums, LineSum{Type: l.Type, First: l.At, Last: l.At})
		i = len(c.Sums) - 1
	}
	s := &c.Sums[i]
	s.Rows++
	s.Last = later(s.Last, l.At)
	if l.At.Before(s.First) {
		s.First = l.At
	}
	var err error
	if s.Gross, err = addTo(s.Gross, l.Gross); err != nil {
		return err
	}
	s.Net, err = addTo(s.Net, l.Net)
	return err
}

// addTo adds an amount to the sum of its currency and exponent.
func addTo(sums []credit.Amount, a credit.Amount) ([]credit.Amount, error) {
	if !a.IsSet() {
		return sums, nil
	}
	for i, s := range sums {
		if s.Currency() == a.Currency() && s.Exponent() == a.Exponent() {
			sum, err := s.Add(a)
			sums[i] = sum
			return sums, err
		}
	}
	return append(sums, a), nil
}

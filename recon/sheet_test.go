package recon_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// readSheet reads a file to its end and returns the amounts of its column "amount", and the sheet.
func readSheet(text string, d recon.Dialect) ([]string, *recon.Sheet, error) {
	s := recon.NewSheet("f.csv", strings.NewReader(text), d)
	if err := s.Header("id", "amount"); err != nil {
		return nil, s, err
	}
	var out []string
	err := s.EachRecord(context.Background(), func(r recon.Record) error {
		a, err := r.Amount("amount", "USD", 2)
		if err == nil {
			out = append(out, fmt.Sprintf("%d:%s=%s", r.Row, r.Text("id"), a.Decimal()))
		}
		return err
	})
	return out, s, err
}

func TestColumnsAreReadByName(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"as expected":         "id,amount\na,1.50\nb,-2\n",
		"other order":         "amount,id\n1.50,a\n-2,b\n",
		"more columns":        "x,amount,y,id\n,1.50,q,a\n,-2,\"r, s\",b\n",
		"byte order mark":     "\ufeffid,amount\na,1.50\nb,-2\n",
		"carriage returns":    "id,amount\r\na,1.50\r\nb,-2\r\n",
		"quoted":              "\"id\",\"amount\"\n\"a\",\"1.50\"\n\"b\",\"-2\"\n",
		"no last line end":    "id,amount\na,1.50\nb,-2",
		"blanks round names":  " id , amount\na,1.50\nb,-2\n",
		"zeros beyond places": "id,amount\na,1.50000000\nb,-2.000\n",
		"empty unnamed tail":  "id,amount,,\na,1.50,,\nb,-2,,\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, s, err := readSheet(text, recon.Dialect{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, " ") != "2:a=1.50 3:b=-2.00" {
				t.Errorf("read %v", got)
			}
			sum := sha256.Sum256([]byte(text))
			if s.Digest() != hex.EncodeToString(sum[:]) {
				t.Error("the digest is not that of the file's bytes")
			}
			if s.Ended() != strings.HasSuffix(text, "\n") {
				t.Errorf("ended: %v", s.Ended())
			}
		})
	}
}

func TestRowsAreLinesOfTheFile(t *testing.T) {
	t.Parallel()
	got, _, err := readSheet("id,amount,note\n\na,1,\"two\nlines\"\nb,2,\n\n\nc,3,x\n", recon.Dialect{})
	if err != nil || strings.Join(got, " ") != "3:a=1.00 5:b=2.00 8:c=3.00" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadFileIsRefusedWithItsLineAndWhatToDo(t *testing.T) {
	t.Parallel()
	good := "id,amount\na,1.50\n"
	for name, c := range map[string]struct {
		text string
		row  int
		says string
	}{
		"empty":                   {"", 0, "is empty"},
		"only a byte order mark":  {"\ufeff", 0, "no header row"},
		"only blank lines":        {"\n\n", 0, "no header row"},
		"UTF-16 little endian":    {"\xff\xfei\x00d\x00", 0, "UTF-16"},
		"UTF-16 big endian":       {"\xfe\xff\x00i\x00d", 0, "UTF-16"},
		"UTF-16 without its mark": {"i\x00d\x00,\x00\n\x00", 1, "zero bytes"},
		"zero byte later":         {good + "b,\x002\n", 3, "zero bytes"},
		"not UTF-8":               {good + "b\xe9,2\n", 3, "not UTF-8"},
		"semicolons":              {"id;amount\na;1.50\n", 1, `separated by ";"`},
		"tabs":                    {"id\tamount\na\t1.50\n", 1, "separated by"},
		"missing column":          {"id,sum\na,1.50\n", 1, `no column "amount"`},
		"renamed by case":         {"ID,amount\na,1.50\n", 1, `no column "id"`},
		"doubled column":          {"id,amount,amount\na,1,2\n", 1, `two columns "amount"`},
		"doubled by a blank":      {"id,amount,amount \na,1,2\n", 1, "two columns"},
		"short row":               {good + "b\n", 3, "has 1 fields where the header has 2"},
		"long row":                {good + "b,2,3\n", 3, "has 3 fields"},
		"value without a name":    {"id,amount,\na,1,x\n", 2, "which has no name"},
		"quote not closed":        {good + "b,\"2\nc,3\n", 3, "not closed"},
		"text behind a quote":     {good + "b,\"2\"3\n", 3, "closing quote"},
		"bare quote":              {good + "b,2\"3\n", 3, "quote stands inside"},
		"field too long":          {good + "b," + strings.Repeat("9", 70_000) + "\n", 3, "longer than 64 KiB"},
		"row too long":            {good + "b,\"" + strings.Repeat("9,\n", 1<<20), 3, "longer than 1 MiB"},
		"too many columns":        {"id,amount" + strings.Repeat(",x", 2000) + "\n", 1, "columns"},
		"thousands separator":     {good + "b,\"1,234.56\"\n", 3, "thousands separator"},
		"German thousands":        {good + "b,\"1.234,56\"\n", 3, "thousands separator"},
		"decimal comma":           {good + "b,\"12,5\"\n", 3, "decimal sign"},
		"exponent form":           {good + "b,1.23E+022\n", 3, "exponent form"},
		"negative zero":           {good + "b,-0.00\n", 3, "negative zero"},
		"blank before":            {good + "b, 5\n", 3, "blanks"},
		"empty amount":            {good + "b,\n", 3, "is empty"},
		"trailing minus":          {good + "b,5-\n", 3, "sign in another form"},
		"plus":                    {good + "b,+5\n", 3, "sign in another form"},
		"bookkeeper's brackets":   {good + "b,(5)\n", 3, "sign in another form"},
		"a word":                  {good + "b,five\n", 3, "no plain decimal"},
		"too many places":         {good + "b,1.005\n", 3, "nothing is rounded"},
		"more digits than money":  {good + "b," + strings.Repeat("9", 70) + "\n", 3, "amount"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, err := readSheet(c.text, recon.Dialect{})
			var refused *recon.FileError
			if !errors.As(err, &refused) {
				t.Fatalf("read without a *FileError: %v", err)
			}
			if refused.Row != c.row || !strings.Contains(refused.Text, c.says) || refused.Name != "f.csv" {
				t.Errorf("line %d: %s\nwant line %d: …%s…", refused.Row, refused.Text, c.row, c.says)
			}
			if !errors.Is(err, credit.ErrInvalid) || len(err.Error()) > 400 {
				t.Errorf("%d bytes of message; is credit.ErrInvalid: %v", len(err.Error()), errors.Is(err, credit.ErrInvalid))
			}
			_ = s
		})
	}
}

func TestFaultsOfTheReaderPassAsTheyAre(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk fell out")
	s := recon.NewSheet("f.csv", io.MultiReader(strings.NewReader("id,amount\na,1\n"), iotest.ErrReader(broken)), recon.Dialect{})
	if err := s.Header("id"); err != nil && !errors.Is(err, broken) {
		t.Fatal(err)
	}
	all := func([]string) error { return nil }
	err := s.Each(t.Context(), all)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if again := s.Each(t.Context(), all); again == nil || again.Error() != err.Error() {
		t.Errorf("after %v came %v", err, again)
	}
}

func TestEach_EndsWithTheFirstErrorOrItsContext(t *testing.T) {
	t.Parallel()
	s := recon.NewSheet("f.csv", strings.NewReader("id\na\nb\nc\n"), recon.Dialect{})
	if err := s.Header("id"); err != nil {
		t.Fatal(err)
	}
	var got []string
	take := func(r recon.Record) error {
		got = append(got, r.Text("id"))
		return nil
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.EachRecord(ended, take); !errors.Is(err, context.Canceled) || len(got) != 0 {
		t.Errorf("after the end: %v, %q", err, got)
	}
	enough := errors.New("enough")
	if err := s.EachRecord(t.Context(), func(r recon.Record) error { return errors.Join(take(r), enough) }); !errors.Is(err, enough) || len(got) != 1 {
		t.Errorf("one row was enough: %v, %q", err, got)
	}
	if err := s.EachRecord(t.Context(), take); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the rest: %v, %q", err, got)
	}
}

// endless gives rows for ever; nothing of them may stay in memory.
type endless struct{ at int }

func (e *endless) Read(p []byte) (int, error) {
	const head, row = "id,amount\n", "a,1.50\n"
	for i := range p {
		if p[i] = row[max(0, e.at-len(head))%len(row)]; e.at < len(head) {
			p[i] = head[e.at]
		}
		e.at++
	}
	return len(p), nil
}

// Not parallel: it measures the process's memory.
func TestAFileLargerThanMemoryKeepsOneRow(t *testing.T) {
	s := recon.NewSheet("f.csv", &endless{}, recon.Dialect{})
	if err := s.Header("id", "amount"); err != nil {
		t.Fatal(err)
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	rows, enough := 0, errors.New("enough")
	err := s.EachRecord(t.Context(), func(r recon.Record) error {
		if r.Text("id") != "a" {
			t.Fatalf("row %d has %q", rows, r.Text("id"))
		}
		if rows++; rows == 1_000_000 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if after := live(); after > before+1<<18 {
		t.Errorf("a million rows left %d bytes behind", after-before)
	}
	runtime.KeepAlive(s)
}

func TestNumberFormsAreOnlyThoseThatWereNamed(t *testing.T) {
	t.Parallel()
	german := recon.Number{Comma: true, Group: "."}
	for _, c := range []struct {
		form recon.Number
		text string
		want string // empty: refused
	}{
		{german, "1.234,56", "1234.56"},
		{german, "1.234.567,89", "1234567.89"},
		{german, "-1.234,5", "-1234.50"},
		{german, "1234,56", "1234.56"},
		{german, "1.234", "1234.00"},
		{german, "1234.56", ""},
		{german, "12.34,56", ""},
		{german, ".234,56", ""},
		{german, "1,234.56", ""},
		{recon.Number{Comma: true}, "12,5", "12.50"},
		{recon.Number{Comma: true}, "1.234,56", ""},
		{recon.Number{Comma: true}, "12.5", ""},
		{recon.Number{Group: ","}, "1,234.56", "1234.56"},
		{recon.Number{Group: ","}, "1,23", ""},
		{recon.Number{Group: " "}, "1 234.56", "1234.56"},
		{recon.Number{}, "0.1", "0.10"},
		{recon.Number{}, "0", "0.00"},
		{recon.Number{}, "1.", ""},
		{recon.Number{}, ".5", ""},
		{recon.Number{}, "٣", ""},
		{recon.Number{}, "NaN", ""},
		{recon.Number{}, "0x10", ""},
	} {
		a, err := c.form.Amount(c.text, "EUR", 2)
		if c.want == "" {
			if err == nil {
				t.Errorf("%+v reads %q as %s", c.form, c.text, a)
			}
			continue
		}
		if err != nil || a.Decimal() != c.want {
			t.Errorf("%+v reads %q as %s, %v; want %s", c.form, c.text, a, err, c.want)
		}
	}
}

func TestErrorsHoldNothingOfTheRow(t *testing.T) {
	t.Parallel()
	_, err := recon.Number{}.Amount("Jane Doe", "USD", 2)
	if err == nil || strings.Contains(err.Error(), "Jane") {
		t.Errorf("%v", err)
	}
	_, err = recon.Stamp{Layout: time.DateTime}.Time("Jane Doe")
	if err == nil || strings.Contains(err.Error(), "Jane") {
		t.Errorf("%v", err)
	}
}

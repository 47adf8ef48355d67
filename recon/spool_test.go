package recon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"creditonce/credit"
)

func TestSpool_SortsWhateverItsPiecesAre(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, memory := range []int{fewBytes, 16 << 10, 1 << 20} {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newSpool(t.Context(), t.TempDir(), memory)
		var want [][]byte
		for range 8000 { // with little memory more than the pieces that are merged at once
			part := make([]byte, r.IntN(20))
			for i := range part {
				part[i] = byte(r.IntN(3))
			}
			key := appendKeyNumber(appendKey(nil, string(part)), r.Uint64N(5))
			want = append(want, key)
			if err := s.put(key, append([]byte("of "), key...)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, bytes.Compare)
		n := 0
		for got, err := range s.sorted() {
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.key, want[n]) || string(got.value) != "of "+string(want[n]) {
				t.Fatalf("memory %d, record %d: %q %q, want key %q", memory, n, got.key, got.value, want[n])
			}
			n++
		}
		if n != len(want) {
			t.Errorf("memory %d: %d records of %d", memory, n, len(want))
		}
		if err := errors.Join(s.close(), s.close()); err != nil {
			t.Error(err)
		}
	}
}

func TestAppendKey_SortsPartByPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.StringMatching(`[\x00\x01\xffab]{0,4}`)
		a, b := []string{part.Draw(rt, "a1"), part.Draw(rt, "a2")}, []string{part.Draw(rt, "b1"), part.Draw(rt, "b2")}
		got := bytes.Compare(appendKey(appendKey(nil, a[0]), a[1]), appendKey(appendKey(nil, b[0]), b[1]))
		if want := slices.Compare(a, b); got != want {
			rt.Fatalf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}

func TestSort_AFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Sort(t.Context(), filepath.Join(file, "below"), seq[Line](nil), seq[Row](nil), seq[Deal](nil)); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	s := newSpool(t.Context(), filepath.Join(dir, "gone"), fewBytes)
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		err = s.put(appendKeyNumber(nil, uint64(i)), make([]byte, 100))
	}
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "gone")) {
		t.Errorf("got %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func TestCompare_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	broken := errors.New("the list broke off")
	failing := func(yield func(Row, error) bool) { yield(Row{}, broken) }
	n := many{payments: 200}
	for _, c := range []struct {
		name string
		rows iter.Seq2[Row, error]
		emit error
		want error
	}{
		{"after all", n.rows(), nil, nil}, {"a list that fails", failing, nil, broken}, {"an emit that fails", n.rows(), broken, broken},
	} {
		dir := filepath.Join(t.TempDir(), "made", "for", "it")
		_, err := Compare(t.Context(), dir, testRules(), n.lines(), c.rows, n.deals(), func(Item) error { return c.emit })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the folder that was made for it is still there: %v", c.name, err)
		}
	}
}

func TestCompare_EndsWhenItsContextDoes(t *testing.T) {
	t.Parallel()
	n := many{payments: 5000}
	for _, phase := range []string{"reading", "matching"} {
		ctx, cancel := context.WithCancel(t.Context())
		rows := func(yield func(Row, error) bool) {
			if phase == "reading" {
				cancel()
			}
			n.rows()(yield)
		}
		dir := t.TempDir()
		_, err := Compare(ctx, dir, testRules(), n.lines(), rows, n.deals(), func(Item) error {
			cancel()
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("while %s: %v", phase, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("while %s: left behind %v, %v", phase, left, err)
		}
	}
}

func TestCompare_RefusesListsThatWereReadTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*lists)
		want   string // empty: it is no fault
	}{
		{"a row twice", func(l *lists) { l.rows = append(l.rows, l.rows[0]) }, "credit 1 is in the list of rows twice"},
		{"a deal twice, alike", func(l *lists) { l.deals = append(l.deals, l.deals[0]) }, ""},
		{"a ticket on two deals", func(l *lists) {
			l.deals = append(l.deals, l.deals[0])
			l.deals[1].Login++
		}, "deal 5000 on Broker-Live is in the list of deals twice"},
	} {
		var l lists
		l.credited("pi_1", "100")
		c.change(&l)
		_, err := Compare(t.Context(), t.TempDir(), testRules(), seq(l.lines), seq(l.rows), seq(l.deals), func(Item) error { return nil })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPack_BringsBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		amount := func(name string) credit.Amount {
			if rapid.IntRange(0, 5).Draw(rt, name+" unset") == 0 {
				return credit.Amount{}
			}
			units := new(big.Int).Mul(big.NewInt(rapid.Int64().Draw(rt, name)), big.NewInt(rapid.Int64Range(1, 1e18).Draw(rt, name+" more")))
			a, err := credit.NewAmount(units, rapid.SampledFrom([]string{"USD", "EUR", "USDT"}).Draw(rt, name+" currency"), rapid.IntRange(0, 18).Draw(rt, name+" places"))
			if err != nil {
				rt.Fatal(err)
			}
			return a
		}
		moment := func(name string) time.Time {
			if rapid.Bool().Draw(rt, name+" zero") {
				return time.Time{}
			}
			return time.Unix(rapid.Int64Range(0, 1<<37).Draw(rt, name), rapid.Int64Range(0, 999_999_999).Draw(rt, name+" ns")).UTC()
		}
		line := Line{
			Provider: Provider{text.Draw(rt, "label"), text.Draw(rt, "kind"), text.Draw(rt, "account")}, Digest: text.Draw(rt, "digest"), Row: rapid.Int().Draw(rt, "row"),
			Type: LineType(text.Draw(rt, "type")), Word: text.Draw(rt, "word"), Payment: text.Draw(rt, "payment"), Movement: text.Draw(rt, "movement"),
			Code: text.Draw(rt, "code"), Batch: strings.Repeat("b", rapid.IntRange(0, 200).Draw(rt, "long")), Gross: amount("gross"), Fee: amount("fee"), Net: amount("net"),
			At: moment("at"), SettledAt: moment("settled"),
		}
		row := Row{
			ID: credit.ID(rapid.Uint64().Draw(rt, "id")), Kind: credit.Kind(text.Draw(rt, "row kind")),
			Unit:  credit.Unit{ProviderKind: text.Draw(rt, "u1"), Account: text.Draw(rt, "u2"), Payment: text.Draw(rt, "u3"), Part: text.Draw(rt, "u4")},
			State: credit.State(text.Draw(rt, "state")), Provider: text.Draw(rt, "provider"), Paid: amount("paid"), PaidAt: moment("paid at"), Code: text.Draw(rt, "row code"),
			Server: text.Draw(rt, "server"), Identity: text.Draw(rt, "identity"), Login: rapid.Uint64().Draw(rt, "login"), Amount: amount("amount"),
			Reference: credit.Reference(text.Draw(rt, "reference")), Ticket: rapid.Uint64().Draw(rt, "ticket"), ClaimedAt: moment("claimed"), Trace: moment("trace"),
			UpdatedAt: moment("updated"), NotDeals: rapid.SliceOfN(rapid.Uint64(), 1, 3).Draw(rt, "not deals"),
		}
		deal := Deal{
			Deal: credit.Deal{Ticket: rapid.Uint64().Draw(rt, "dt"), Login: rapid.Uint64().Draw(rt, "dl"), Action: rapid.Int().Draw(rt, "action"), Amount: amount("deal"),
				Comment: text.Draw(rt, "comment"), Dealer: rapid.Uint64().Draw(rt, "dealer"), ServerTime: rapid.Int64().Draw(rt, "server time")},
			Server: text.Draw(rt, "ds"), Identity: text.Draw(rt, "di"), At: moment("deal at"),
		}
		p := packer{words: newDictionary()}
		p.line(&line)
		p.row(&row)
		p.deal(&deal)
		whole := string(p.buf)
		u := unpacker{rest: whole, words: p.words.words}
		gotLine, gotRow, gotDeal := u.line(), u.row(), u.deal()
		if u.err != nil || u.rest != "" {
			rt.Fatalf("%v, %d bytes left", u.err, len(u.rest))
		}
		if asText(t, gotLine) != asText(t, line) || asText(t, gotRow) != asText(t, row) || asText(t, gotDeal) != asText(t, deal) {
			rt.Fatalf("wrote\n%+v\n%+v\n%+v\nread\n%+v\n%+v\n%+v", line, row, deal, gotLine, gotRow, gotDeal)
		}
		cut := unpacker{rest: whole[:rapid.IntRange(0, len(whole)-1).Draw(rt, "cut")], words: p.words.words}
		cut.line()
		cut.row()
		if cut.deal(); !errors.Is(cut.err, errPacked) {
			rt.Fatalf("a cut record is read: %v", cut.err)
		}
	})
}

func TestMoney_CountsAsBigIntegersDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) money {
			return money{currency: "USD", set: true, exponent: rapid.IntRange(0, 18).Draw(rt, name+" places"),
				small: rapid.SampledFrom([]int64{0, 1, -1, 5, math.MaxInt64, math.MinInt64, rapid.Int64().Draw(rt, name)}).Draw(rt, name+" of")}
		}
		exact := func(m money) *big.Int {
			return new(big.Int).Mul(m.units(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18-m.exponent)), nil))
		}
		a, b := draw("a"), draw("b")
		for name, c := range map[string][2]*big.Int{
			"sum":        {exact(a.plus(b)), new(big.Int).Add(exact(a), exact(b))},
			"difference": {exact(a.minus(b)), new(big.Int).Sub(exact(a), exact(b))},
			"negative":   {exact(a.neg()), new(big.Int).Neg(exact(a))},
			"size":       {exact(a.abs()), new(big.Int).Abs(exact(a))},
			"finer":      {exact(a.finer(18)), exact(a)},
		} {
			if c[0].Cmp(c[1]) != 0 {
				rt.Fatalf("%s of %s e%d and %s e%d: %s, want %s", name, a.units(), a.exponent, b.units(), b.exponent, c[0], c[1])
			}
		}
		if got, want := a.within(b), exact(a).CmpAbs(exact(b)) <= 0 && b.sign() >= 0 || a.sign() == 0; got != want {
			rt.Fatalf("%s within %s: %v", a.units(), b.units(), got)
		}
		if got, want := a.same(b), exact(a).Cmp(exact(b)) == 0; got != want {
			rt.Fatalf("%s same as %s: %v", a.units(), b.units(), got)
		}
	})
}

func TestClasses_EachHasItsGravity(t *testing.T) {
	t.Parallel()
	if len(gravity) != len(Classes()) {
		t.Errorf("%d classes, of %d of them it is known which is graver", len(Classes()), len(gravity))
	}
}

func ExampleMatch() {
	var l lists
	l.credited("pi_1", "100")
	l.line(LinePayment, "pi_1", "90")
	_, err := Compare(context.Background(), "", testRules(), seq(l.lines), seq(l.rows), seq(l.deals), func(i Item) error {
		fmt.Println(i.Key.Class, i.Key.Entity, i.Off, "-", i.Why)
		return nil
	})
	fmt.Println(err)
	// Output:
	// wrong_amount credit/1 -10.00 USD - the statement settles 90.00 USD, credited was 100.00 USD
	// <nil>
}

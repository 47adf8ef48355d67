package pages_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/store/pages"
)

const pageSize = 1024

// walkEnv makes the test binary the one that gives bbolt what passed, so that a crash is seen as one.
const walkEnv = "PAGES_TEST_WALK"

func TestMain(m *testing.M) {
	if path := os.Getenv(walkEnv); path != "" {
		if err := walkFlips(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// flips lists the bytes of all headers of pages in use and of the elements behind them. Only a page's own number tells where one begins.
func flips(file []byte) (out []int) {
	for page := 0; page < len(file)/pageSize; page++ {
		at := page * pageSize
		if binary.NativeEndian.Uint64(file[at:]) != uint64(page) {
			continue // goes on from the page before
		}
		if page > 1 && whole(put16(at+8, 0x40)(bytes.Clone(file))).Clean() {
			continue // nothing leads to it
		}
		end := 16 + 16*int(binary.NativeEndian.Uint16(file[at+10:]))
		if page < 2 {
			end = 80
		}
		for i := range min(end, pageSize) {
			out = append(out, at+i)
		}
	}
	return out
}

// walkFlips gives bbolt each file of one wrong bit that the look passes.
func walkFlips(path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	tried, passed, unlike := 0, 0, 0
	_, all, err := walkWith(path)
	if err != nil {
		return err
	}
	for _, at := range flips(file) {
		for bit := range 8 {
			file[at] ^= 1 << bit
			tried++
			if whole(file).Clean() {
				passed++
				if err := os.WriteFile(path, file, 0o600); err != nil {
					return err
				}
				findings, keys, err := walkWith(path)
				if err != nil || findings == 0 && keys != all {
					unlike++
					fmt.Printf("byte %d of page %d, bit %d: %d findings, %d keys of %d, %v\n", at%pageSize, at/pageSize, bit, findings, keys, all, err)
				}
			}
			file[at] ^= 1 << bit
		}
	}
	fmt.Println("tried", tried, "passed", passed, "unlike", unlike)
	return nil
}

// Every wrong bit in what leads through a file is either found, or harmless: bbolt's own check and its cursors outlive what passes, and find every key.
func TestEveryFlippedBitOfHeadersAndElements_IsFoundOrHarmless(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sample.db")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), walkEnv+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process that read what had passed: %v\n%.4000s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var tried, passed, unlike int
	if _, err := fmt.Sscanf(lines[len(lines)-1], "tried %d passed %d unlike %d", &tried, &passed, &unlike); err != nil {
		t.Fatalf("%v in %.4000s", err, out)
	}
	if tried < 20_000 || unlike > 0 || passed > tried/20 {
		t.Errorf("%.4000s", out)
	}
}

// edit is a change of the sample, by offset.
type edit func(file []byte) []byte

func put64(at int, v uint64) edit {
	return func(b []byte) []byte { binary.NativeEndian.PutUint64(b[at:], v); return b }
}

func put32(at int, v uint32) edit {
	return func(b []byte) []byte { binary.NativeEndian.PutUint32(b[at:], v); return b }
}

func put16(at int, v uint16) edit {
	return func(b []byte) []byte { binary.NativeEndian.PutUint16(b[at:], v); return b }
}

// summed makes the checksums of both heads right again after a change of them.
func summed(change edit) edit {
	return func(b []byte) []byte {
		b = change(b)
		for _, at := range []int{16, pageSize + 16} {
			sum := fnv.New64a()
			_, _ = sum.Write(b[at : at+56])
			binary.NativeEndian.PutUint64(b[at+56:], sum.Sum64())
		}
		return b
	}
}

// newest is where the head that counts begins.
func newest(b []byte) int {
	if binary.NativeEndian.Uint64(b[16+48:]) > binary.NativeEndian.Uint64(b[pageSize+16+48:]) {
		return 16
	}
	return pageSize + 16
}

// find returns the page in use with these flags that has the most elements.
func find(t *testing.T, b []byte, flags uint16) int {
	t.Helper()
	best, most := 0, uint16(0)
	for page := 2; page < len(b)/pageSize; page++ {
		at := page * pageSize
		if binary.NativeEndian.Uint64(b[at:]) != uint64(page) || binary.NativeEndian.Uint16(b[at+8:]) != flags || whole(put16(at+8, 0x40)(bytes.Clone(b))).Clean() {
			continue // no page, or one that nothing leads to
		}
		if n := binary.NativeEndian.Uint16(b[at+10:]); n > most {
			best, most = at, n
		}
	}
	if best == 0 {
		t.Fatalf("no page has the flags %#x", flags)
	}
	return best
}

// Each kind of damage has its sentence, with the page's number; what would hide a key or lead out of the file is seen from the branches alone.
func TestDamage_IsNamedWithItsPage(t *testing.T) {
	t.Parallel()
	file := sample(t)
	head, branch, leaf, free := newest(file), find(t, file, 1), find(t, file, 2), find(t, file, 0x10)
	child := func(i int) uint64 { return binary.NativeEndian.Uint64(file[branch+16+16*i+8:]) }
	page := func(at int, text string) string { return fmt.Sprintf("page %d: %s", at/pageSize, text) }
	taken := func(id uint64) string {
		return page(branch, fmt.Sprintf("it leads to page %d, which something else has already", id))
	}
	for _, c := range []struct {
		name   string
		change edit
		want   string
		early  bool // by the branches, too
	}{
		{"count of a branch", put16(branch+10, 2), page(branch, "element 0 begins at byte"), true},
		{"count beyond the page", put16(branch+10, 0xFFFF), page(branch, "it has 65535 elements, and room for 63"), true},
		{"branch without elements", put16(branch+10, 0), page(branch, "it is a branch and leads nowhere"), true},
		{"child out of the file", put64(branch+24, 1<<40), page(branch, "it leads to page 1099511627776"), true},
		{"child is the page itself", put64(branch+24, uint64(branch/pageSize)), taken(uint64(branch / pageSize)), true},
		{"two children are one", put64(branch+24, child(1)), taken(child(1)), true},
		{"child is a free page", put64(branch+24, binary.NativeEndian.Uint64(file[free+16:])), "which is listed as free", true},
		{"place of a key", put32(branch+16, 1<<31), page(branch, "element 0 begins at byte"), true},
		{"size of a key", put32(branch+20, 1<<31), page(branch, "element 0 has 2147483648 bytes"), true},
		{"empty key", put32(branch+20, 0), page(branch, "element 0 has an empty key"), true},
		{"neither branch nor leaf", put16(branch+8, 3), page(branch, "its flags are 0x3"), true},
		{"page of another number", put64(branch, 7777), page(branch, "it says that it is page 7777"), true},
		{"pages behind the last", put32(branch+12, 1<<20), page(branch, "1048576 pages continue it"), true},
		{"leaf without elements", put16(leaf+10, 0), page(leaf, "it is a leaf and holds nothing"), false},
		{"flags of an element", put32(leaf+16, 2), page(leaf, "element 0 has the flags 0x2"), false},
		{"value that is no bucket", put32(leaf+16, 1), page(leaf, "element 0, a bucket, has 1 bytes"), false},
		{"size of a value", put32(leaf+28, 1<<30), page(leaf, "element 0 has"), false},
		{"free pages beyond the list", put16(free+10, 0x7000), page(free, "it lists 28672 free pages"), true},
		{"free page out of the file", put64(free+16, 1<<50), page(free, "it lists page 1125899906842624 as free"), true},
		{"free page twice", put64(free+24, binary.NativeEndian.Uint64(file[free+16:])), "as free, which it is not, or is twice", true},
		{"list that is none", put16(free+8, 2), page(free, "its flags are 0x2, not those of the list of free pages"), true},
		{"list elsewhere", summed(put64(head+32, 1<<33)), "the head: it leads to page 8589934592", true},
		{"root elsewhere", summed(put64(head+16, 1<<33)), "the head: it leads to page 8589934592", true},
		{"more pages than there are", summed(put64(head+40, 1<<33)), "head: it names 8589934592 pages", true},
		{"the other head", put64(pageSize+32-head+16, 1), "what the last transaction wrote may be missing", false},
		{"both heads", func(b []byte) []byte { return put32(16, 0)(put32(pageSize+16, 0)(b)) }, "it is no head of a bbolt file, and page 1 is not whole either", true},
		{"what stands before a head", put16(8, 1), "page 0: its flags are 0x1, not those of a head", true},
		{"an odd page size", summed(func(b []byte) []byte { return put32(24, 3000)(put32(pageSize+24, 3000)(b)) }), "its page size is 3000", true},
		{"cut off", func(b []byte) []byte { return b[:len(b)/4] }, "head: it names", true},
		{"nothing at all", func([]byte) []byte { return nil }, "the file ends before byte 80", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := c.change(bytes.Clone(file))
			if r := whole(bad); !strings.Contains(strings.Join(r.Findings, "\n"), c.want) {
				t.Errorf("%q; want %q", r.Findings, c.want)
			}
			if r := branches(bad); r.Clean() == c.early {
				t.Errorf("by the branches: %q", r.Findings)
			}
		})
	}
	if w, b := whole(file), branches(file); !w.Clean() || !b.Clean() || b.Read >= w.Read/2 {
		t.Errorf("the sample: %+v, by its branches %+v", w, b)
	}
}

// A disk that cannot read some bytes is a finding of the page on them, and no more findings are listed than a person can read.
func TestUnreadableBytes_AreFindings(t *testing.T) {
	t.Parallel()
	file := sample(t)
	leaf := find(t, file, 2)
	r := pages.Whole(broken{bytes.NewReader(file), int64(leaf)}, int64(len(file)))
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], fmt.Sprintf("page %d: it cannot be read: bad sector", leaf/pageSize)) {
		t.Errorf("%q", r.Findings)
	}
	free, last := len(file), uint64(len(file)/pageSize+30)
	file = append(file, make([]byte, 30*pageSize)...) // a list of free pages that names no page at all
	file = put16(free+10, 3000)(put16(free+8, 0x10)(put32(free+12, 29)(put64(free, uint64(free/pageSize))(file))))
	file = summed(func(b []byte) []byte { return put64(newest(b)+40, last)(put64(newest(b)+32, uint64(free/pageSize))(b)) })(file)
	if r := whole(file); len(r.Findings) != 1000 || r.More != 2000 {
		t.Errorf("%d findings and %d more", len(r.Findings), r.More)
	}
}

// broken fails to read some bytes.
type broken struct {
	io.ReaderAt
	at int64
}

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at <= b.at && b.at < at+int64(len(p)) {
		return 0, errors.New("bad sector")
	}
	return b.ReaderAt.ReadAt(p, at)
}

// Whatever is in a file, the look ends, and what it passes bbolt can walk: the seeds are single wrong bits, two at once and heads that were changed with
// their checksums.
func FuzzWhatPasses_CanBeWalked(f *testing.F) {
	file := sample(f)
	for _, at := range []uint32{10, 2*pageSize + 10, 3*pageSize + 8, 5*pageSize + 12, 7*pageSize + 24, 16 + 16, 16 + 40} {
		f.Add(binary.NativeEndian.AppendUint32(nil, at<<3|1))
		f.Add(binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, at<<3), (at+pageSize)<<3|2))
	}
	f.Fuzz(func(t *testing.T, bits []byte) {
		bad := bytes.Clone(file)
		for ; len(bits) >= 4; bits = bits[4:] {
			n := binary.NativeEndian.Uint32(bits)
			bad[int(n>>3)%len(bad)] ^= 1 << (n & 7)
		}
		bad = summed(func(b []byte) []byte { return b })(bad)
		branches(bad)
		if !whole(bad).Clean() {
			return
		}
		path := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := walkWith(path); err != nil {
			t.Errorf("it passed, and cannot be walked: %v", err)
		}
	})
}

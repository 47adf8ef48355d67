package storage

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// act is what a traced program did to one of its files.
type act struct {
	file string // path
	kind actKind
	at   int64  // of a write; of a resize, the new size
	data []byte // of a write
}

type actKind int

const (
	wrote actKind = iota
	resized
	synced // it has returned: what was written before is on the disk
	said   // bytes appended to a file that is no part of the image
)

// The forms of strace -f -y -xx: a call that another thread interrupts is two lines, and its arguments stand on the first one.
var (
	writeForm  = regexp.MustCompile(`^\d+ +pwrite64\(\d+<([^>]*)>, "((?:\\x[0-9a-f]{2})*)", (\d+), (\d+)`)
	sayForm    = regexp.MustCompile(`^\d+ +write\(\d+<([^>]*)>, "((?:\\x[0-9a-f]{2})*)", (\d+)`)
	resizeForm = regexp.MustCompile(`^\d+ +ftruncate\(\d+<([^>]*)>, (\d+)`)
	syncForm   = regexp.MustCompile(`^(\d+) +(fdatasync|fsync)\(\d+<([^>]*)>(\) += 0| <unfinished)`)
	endForm    = regexp.MustCompile(`^(\d+) +<\.\.\. (fdatasync|fsync) resumed>.*\) += 0`)
)

// tracing are the options of strace whose output readRecord reads.
func tracing(to string) []string {
	return []string{"-f", "-q", "-y", "-xx", "-s", "4194304", "-e", "trace=pwrite64,write,ftruncate,fdatasync,fsync", "-e", "signal=none", "-o", to}
}

// readRecord reads what a trace says about files, in order. A write counts from its call on, and a sync only when it has
// returned: what lies between may have reached the disk, or not.
func readRecord(path string) (acts []act, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	under := map[string]string{} // thread -> file whose sync is under way
	for lines.Scan() {
		a, ok, err := readLine(lines.Text(), under)
		if err != nil {
			return nil, err
		}
		if ok {
			acts = append(acts, a)
		}
	}
	return acts, lines.Err()
}

func readLine(line string, under map[string]string) (a act, ok bool, err error) {
	if m := writeForm.FindStringSubmatch(line); m != nil {
		a = act{file: unquoted(m[1]), kind: wrote}
		if a.data, err = unhex(m[2], m[3]); err == nil {
			a.at, err = strconv.ParseInt(m[4], 10, 64)
		}
		return a, true, err
	}
	if m := sayForm.FindStringSubmatch(line); m != nil {
		a = act{file: unquoted(m[1]), kind: said}
		a.data, err = unhex(m[2], m[3])
		return a, true, err
	}
	if m := resizeForm.FindStringSubmatch(line); m != nil {
		a = act{file: unquoted(m[1]), kind: resized}
		a.at, err = strconv.ParseInt(m[2], 10, 64)
		return a, true, err
	}
	if m := syncForm.FindStringSubmatch(line); m != nil {
		if strings.HasPrefix(m[4], ")") {
			return act{file: unquoted(m[3]), kind: synced}, true, nil
		}
		under[m[1]] = unquoted(m[3])
		return a, false, nil
	}
	if m := endForm.FindStringSubmatch(line); m != nil {
		return act{file: under[m[1]], kind: synced}, true, nil
	}
	return a, false, nil
}

// unquoted is a path as -y shows it under -xx: in hexadecimal, or plain.
func unquoted(path string) string {
	if b, err := hex.DecodeString(strings.ReplaceAll(path, `\x`, "")); err == nil && strings.HasPrefix(path, `\x`) {
		return string(b)
	}
	return path
}

func unhex(text, length string) ([]byte, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if err == nil && strconv.Itoa(len(b)) != length {
		err = fmt.Errorf("the trace has %d bytes of a write of %s", len(b), length)
	}
	return b, err
}

const pageLen = 4096

// disk is the content of one file: its pages that are not empty, and its size.
type disk struct {
	size  int64
	pages map[int64][]byte
}

func readDisk(path string) (disk, error) {
	b, err := os.ReadFile(path)
	d := disk{pages: map[int64][]byte{}}
	d.apply(act{kind: wrote, data: b})
	return d, err
}

func (d disk) clone() disk {
	out := disk{d.size, make(map[int64][]byte, len(d.pages))}
	for at, page := range d.pages {
		out.pages[at] = page // pages are never changed in place
	}
	return out
}

// apply carries out a write or a resize.
func (d *disk) apply(a act) {
	if a.kind == resized {
		d.size = a.at
		for at := range d.pages {
			if at*pageLen >= a.at {
				delete(d.pages, at)
			}
		}
		return
	}
	for done := 0; done < len(a.data); {
		at := a.at + int64(done)
		page := make([]byte, pageLen)
		copy(page, d.pages[at/pageLen])
		done += copy(page[at%pageLen:], a.data[done:])
		d.pages[at/pageLen] = page
	}
	d.size = max(d.size, a.at+int64(len(a.data)))
}

// write puts the content into a file that exists, which stays the same file.
func (d disk) write(path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	for at, page := range d.pages {
		if _, err := f.WriteAt(page, at*pageLen); err != nil {
			_ = f.Close()
			return err
		}
	}
	if err := f.Truncate(d.size); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

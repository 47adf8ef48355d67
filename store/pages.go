package store

import (
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"

	"creditonce/store/pages"
)

// pageFindings checks the pages of the file: first by reading them, then by bbolt's own check, which follows every number that it finds into the mapped
// file, in a goroutine of its own, so that one that leads out of it would end the process. pathless tells
// that the first found something: then nothing may be looked up in the file at all, since bbolt may follow a page for ever, or out of the file.
func pageFindings(b *bolt.DB, file *os.File) (out []string, pathless bool) {
	defer func() {
		if p := recover(); p != nil {
			out = append(out, fmt.Sprintf("the check ended early (%v)", p))
		}
	}()
	err := b.View(func(tx *bolt.Tx) error {
		if r := pagesOf(file, pages.Whole); !r.Clean() {
			out, pathless = r.Findings, true
			return nil
		}
		for err := range tx.Check() { // always to the end: the sender waits for its reader
			if len(out) < mostFindings {
				out = append(out, err.Error())
			}
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out, pathless
}

// pagesOf looks at an open file, to which nobody may write meanwhile.
func pagesOf(file *os.File, look func(io.ReaderAt, int64) pages.Report) pages.Report {
	info, err := file.Stat()
	if err != nil {
		return pages.Report{Findings: []string{err.Error()}}
	}
	return look(file, info.Size())
}

// foundPages is the error of a file whose pages are damaged.
func foundPages(findings []string) error {
	var r Report
	for _, f := range findings {
		r.Findings = append(r.Findings, "pages: "+f)
	}
	return &FoundError{r}
}

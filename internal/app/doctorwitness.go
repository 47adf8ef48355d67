package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"creditonce/store"
)

// witness checks what notices an older store file or a copy: the witness, its disk, and the machine's id.
func (d *doctor) witness() {
	const name = "witness"
	path := d.c.Store.Witness
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(StorePath(d.c.DataDir)); err != nil {
			d.check(true, name, path+" is not there yet; the first serve makes it", "")
		} else {
			d.check(false, name, path+" is missing: an older store file put back by hand would not be noticed, and the next start calls nothing before the quarantine",
				"find out who removed it; the next call that is made after a start writes it anew")
		}
	case err != nil:
		d.check(false, name, err.Error(), "run as the service's user; the service needs to write "+filepath.Dir(path))
	case store.SameDisk(path, StorePath(d.c.DataDir)):
		d.check(true, name, path+" is on the store's own disk: a disk that is put back as a whole takes both along; store.witness may name another", "")
	default:
		d.check(true, name, path+" is on another disk than the store", "")
	}
	if machine() == "" {
		d.check(true, "machine", "it has no machine-id, so that a copy of the store on another machine is told by its file alone", "")
		return
	}
	d.check(true, "machine", "its id tells a copy of the store on another machine", "")
}

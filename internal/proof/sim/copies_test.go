package sim

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"creditonce/credit"
	"creditonce/internal/invariant"
	"creditonce/store"
)

// backup is the file as it was at a moment.
type backup struct {
	path    string
	at      time.Duration
	command bool // it is put back by the command, not by hand
	due     bool // at the next death of the process
	done    bool
}

// takeBackup copies the file between two commits, to be put back at a later death of the process.
func (s *sim) takeBackup(command bool) {
	if s.backup != nil {
		return
	}
	b := &backup{path: s.files[0].path + ".backup", at: s.now, command: command}
	if err := copyFile(s.files[0].path, b.path); err != nil {
		s.fail("take a backup: %v", err)
		return
	}
	s.backup = b
	s.note("somebody copies the store's file")
	s.after(s.spread(time.Second, 40*time.Minute), func() {
		if p := s.serving(); p != nil && !s.calm {
			b.due = true
			s.doom(p, "somebody stops it to put an older file back")
		}
	})
}

// copyFile copies what is written of a file; a store has room for much more.
func copyFile(from, to string) (err error) {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	const seekData, seekHole = 3, 4 // lseek(2), on Linux
	var content []byte
	for at := int64(0); ; {
		begin, err := f.Seek(at, seekData)
		if err != nil {
			break // no more data, or a system that cannot tell
		}
		end, err := f.Seek(begin, seekHole)
		if err != nil {
			return err
		}
		content = append(content, make([]byte, end-int64(len(content)))...)
		if _, err := f.ReadAt(content[begin:end], begin); err != nil {
			return err
		}
		at = end
	}
	if len(content) == 0 {
		if content, err = os.ReadFile(from); err != nil {
			return err
		}
	}
	return os.WriteFile(to, trimmed(content), 0o600)
}

// betweenLives is what befalls the files while nobody runs.
func (s *sim) betweenLives(p *process) {
	if s.strikes(witnessLost) {
		_ = os.Remove(s.witness)
		s.note("the witness is gone")
	}
	b, f := s.backup, p.file
	if b == nil || !b.due {
		return
	}
	b.due, b.done = false, true
	if b.command {
		s.restoreByCommand(p)
	} else {
		s.restoreByHand(f)
	}
	f.stale, f.older = true, true
}

func (s *sim) restoreByHand(f *file) {
	path := f.path
	other := s.oneIn(2) // another inode
	if other {
		path += ".put-back"
	}
	err := copyFile(s.backup.path, path)
	if err == nil && other {
		err = os.Rename(path, f.path)
	}
	if err != nil {
		s.fail("put the older file back: %v", err)
	}
	s.count(backupPutBack)
	s.note("the file of %v is put back, another file: %t", s.backup.at, other)
}

func (s *sim) restoreByCommand(p *process) {
	r, err := store.Restore(background, p.file.path, store.RestoreOptions{
		From: s.backup.path, Guard: *p.guard(), Instance: "restored-" + p.id, By: "anna", Reason: "drill",
	})
	if err != nil {
		s.fail("restore: %v", err)
		return
	}
	_ = os.Remove(r.Kept)
	s.count(restoredByCommand)
	s.note("the backup of %v is restored by the command", s.backup.at)
}

// copyStore starts another instance on a copy of the file: on this machine, or on another one.
func (s *sim) copyStore() {
	if len(s.files) > 1 || s.serving() == nil {
		return
	}
	folder := s.files[0].path + ".copy"
	path := filepath.Join(folder, "store.db")
	if err := os.Mkdir(folder, 0o700); err != nil {
		s.fail("copy the store: %v", err)
		return
	}
	if err := copyFile(s.files[0].path, path); err != nil {
		s.fail("copy the store: %v", err)
		return
	}
	f := newFile("copy", path, &invariant.World{})
	f.stale = true
	s.files = append(s.files, f)
	host := s.hosts[0]
	if s.oneIn(2) {
		host = &machine{name: "host-2", booted: s.now - time.Hour}
	}
	s.note("another instance starts on a copy, on %s", host.name)
	s.count(copyStarted)
	p := s.start(host, f)
	s.after(s.spread(10*time.Minute, time.Hour), func() { s.doom(p, "the copy is stopped") })
}

// standing looks at what a start found out about its store, and compares the file with what its commits said.
func (s *sim) standing(p *process) {
	st := p.db.Standing()
	switch {
	case st.Doubt != "":
		s.count(doubtSeen)
		s.note("the store is in doubt")
		p.file.stale = true
	case st.Wait != "":
		s.count(claimsWaited)
		p.claimsFrom = p.info.Started + s.timing.Quarantine
		s.note("nothing is claimed before %v", p.claimsFrom)
	}
	if p.file != s.files[0] && st.Doubt == "" {
		s.fail("I-O1: an instance on a copy sees nothing wrong with it")
	}
	if p.file.older {
		p.file.older = false
		w := s.world()
		w.Restores = append(w.Restores, invariant.Restore{At: s.begun.Add(s.now).UTC(), Command: s.backup.command, Sent: len(w.Sent), Calls: len(w.Calls), Deals: len(w.Deals)})
	}
	if p.file.stale {
		if err := p.file.reload(p.db); err != nil {
			s.fail("read the store: %v", err)
		}
		s.sendAgain(p.file)
	}
	s.compareWithStore(p)
}

// reload reads everything from the store, which is another one than its commits said.
func (f *file) reload(db *store.DB) error {
	w := f.world
	w.Rows, w.Tasks, w.Events, w.Deposits = nil, nil, nil, nil
	clear(f.place)
	clear(f.tasks)
	clear(f.codes)
	f.stale = false
	f.version++
	rows, err := db.Rows(background, credit.RowQuery{Limit: 1000})
	if err != nil {
		return err
	}
	for i, row := range rows {
		entries, err := db.History(background, row.ID)
		if err != nil {
			return err
		}
		f.place[row.ID] = i
		w.Rows = append(w.Rows, invariant.Row{Credit: row, History: entries})
	}
	if w.Events, err = db.Events(background, 0, 1000); err != nil {
		return err
	}
	list, err := db.Tasks(background, store.TaskQuery{Limit: 1000})
	if err != nil {
		return err
	}
	for i, t := range list {
		f.tasks[t.ID] = i
	}
	w.Tasks = list
	page, err := db.Deposits(background, credit.DepositQuery{Limit: 1000})
	if err != nil {
		return err
	}
	for i, v := range page.Items {
		f.codes[v.Deposit.Code] = i
		w.Deposits = append(w.Deposits, v.Deposit)
	}
	w.Settings, err = db.Settings(background)
	return err
}

// sendAgain has the provider's list pulled and the portal ask again, for what an older file does not know.
func (s *sim) sendAgain(f *file) {
	if f != s.files[0] {
		return
	}
	known, numbered := map[string]bool{}, map[credit.EventID]string{}
	for i := range f.world.Events {
		e := &f.world.Events[i]
		known[e.Digest], numbered[e.ID] = true, e.Digest
	}
	kept := s.acked[:0]
	for _, a := range s.acked { // by number: under a renamed label the same bytes are an event of their own
		if numbered[a.event] == a.digest {
			kept = append(kept, a)
		}
	}
	s.acked = kept
	for _, d := range s.deliveries {
		if d.acked && !known[d.digest()] {
			d.acked = false
			s.after(s.spread(time.Second, 10*time.Minute), func() { s.deliver(d) })
		}
	}
	for _, r := range s.requests {
		if _, ok := f.codes[r.pay.code]; r.made && !ok {
			r.made = false
			s.after(s.spread(time.Second, 10*time.Minute), func() { s.portal(r) })
		}
	}
	s.note("%d acknowledged events are known, %d rows", len(kept), len(f.world.Rows))
}

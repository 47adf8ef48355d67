package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/mt5/probe"
	"creditonce/store"
)

// Check is one numbered check of the doctor.
type Check struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // a command, or what to do where no command does it
}

// Assumed is what the service believes about an MT5 server, and why.
type Assumed struct {
	Server  string `json:"server"`
	ID      string `json:"id"`
	Asks    string `json:"asks"`
	Assumes string `json:"assumes,omitempty"` // what the client relies on; empty: it works either way
	Source  string `json:"source"`
	State   string `json:"state"`            // "assumed", "measured", "differs"; "unread" while a service has the store
	Answer  string `json:"answer,omitempty"` // of the probe; why it cannot be asked, where it cannot
	At      string `json:"at,omitempty"`     // when it was measured, UTC
}

// Diagnosis is everything that the doctor found.
type Diagnosis struct {
	Checks  []Check   `json:"checks"`
	Assumed []Assumed `json:"assumed"`
}

// Problems counts the checks that are not in order.
func (d *Diagnosis) Problems() int {
	n := 0
	for _, c := range d.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// The states of what is believed about a server.
const (
	stateAssumed  = "assumed"
	stateMeasured = "measured"
	stateDiffers  = "differs"
	stateUnread   = "unread"
)

// doctor collects checks.
type doctor struct {
	c        *config.Config
	file     string // of the configuration, for commands
	now      time.Time
	found    Diagnosis
	running  bool
	settings credit.Settings
	opened   bool // settings were read
}

// Diagnose examines a configuration that loads, its machine and its servers. It changes nothing: it opens the store for
// reading where no service has it, and asks each MT5 server on a connection of its own.
func Diagnose(ctx context.Context, c *config.Config) Diagnosis {
	d := &doctor{c: c, file: c.File, now: systemClock{}.Now()}
	d.configuration()
	d.ownCertificates()
	d.checkStore(ctx)
	d.socket(ctx)
	d.witness()
	d.space()
	d.clock()
	d.ports(ctx)
	for _, label := range slices.Sorted(maps.Keys(c.MT5.Servers)) {
		d.server(ctx, label)
	}
	return d.found
}

func (d *doctor) check(ok bool, name, detail, fix string) {
	if ok {
		fix = ""
	}
	d.found.Checks = append(d.found.Checks, Check{Number: len(d.found.Checks) + 1, Name: name, OK: ok, Detail: detail, Fix: fix})
}

func (d *doctor) configuration() {
	var warnings, secrets []string
	for _, w := range d.c.Warnings {
		warnings = append(warnings, w.Path+" "+w.Problem)
	}
	for _, line := range d.c.Checked {
		if strings.Contains(line, ": secret read from ") {
			secrets = append(secrets, line)
		}
	}
	if len(warnings) == 0 {
		d.check(true, "configuration", d.file+" has no fault", "")
	} else {
		d.check(false, "configuration", strings.Join(warnings, "; "), "creditonce check "+d.file)
	}
	d.check(true, "secrets", fmt.Sprintf("%d read, each from a file or credential that only its owner may read", len(secrets)), "")
}

// renewBefore is how long before its end a certificate is worth a word.
const renewBefore = 14 * 24 * time.Hour

func (d *doctor) certificate(name string, ends time.Time, fix string) {
	detail := "valid until " + ends.UTC().Format(time.DateTime) + " UTC"
	if left := ends.Sub(d.now); left < renewBefore {
		detail = "ends at " + ends.UTC().Format(time.DateTime) + " UTC"
	}
	d.check(ends.Sub(d.now) >= renewBefore, name, detail, fix)
}

func (d *doctor) ownCertificates() {
	for _, l := range []struct {
		name string
		pair *config.TLSPair
	}{{"webhooks", d.c.Webhooks.TLS}, {"api", d.c.API.TLS}} {
		if l.pair == nil {
			continue
		}
		name := "certificate of " + l.name
		pair, err := tls.LoadX509KeyPair(l.pair.CertFile, l.pair.KeyFile)
		if err != nil || pair.Leaf == nil {
			d.check(false, name, l.pair.CertFile+" cannot be used with its key", "creditonce check "+d.file)
			continue
		}
		d.certificate(name, pair.Leaf.NotAfter, "renew "+l.pair.CertFile+", then restart the service")
	}
}

// verifyUpTo is the largest store that the doctor reads whole: some seconds' work.
const verifyUpTo = 64 << 20

func (d *doctor) checkStore(ctx context.Context) {
	const name = "store"
	path := StorePath(d.c.DataDir)
	about, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		d.check(true, name, path+" is not there yet; the first serve makes it", "")
		return
	}
	if err != nil {
		d.check(false, name, err.Error(), "run as the service's user")
		return
	}
	if about.Size() > verifyUpTo {
		settings, schema, err := store.ReadSettings(path)
		d.sawStore(path, schema, err, func() (string, error) {
			return d.compareStore(settings, about.Size(), "too large to read whole now: creditonce verify does")
		})
		return
	}
	db, err := store.OpenReading(path)
	if err != nil {
		d.sawStore(path, 0, err, nil)
		return
	}
	d.sawStore(path, db.Schema(), nil, func() (string, error) {
		detail, err := d.readStore(ctx, db, about.Size())
		return detail, errors.Join(err, db.Close(context.WithoutCancel(ctx)))
	})
}

// sawStore tells what became of opening the store, and then what read tells.
func (d *doctor) sawStore(path string, schema int, err error, read func() (string, error)) {
	const name = "store"
	var damaged *store.FoundError
	switch {
	case IsRunning(err):
		d.running = true
		d.check(true, name, path+" is in use by a service, which verifies it on its schedule", "")
		return
	case errors.As(err, &damaged):
		d.check(false, name, err.Error(), "creditonce verify --config "+d.file)
		return
	case err != nil:
		d.check(false, name, err.Error(), "run as the service's user; where the file is damaged, keep a copy and start nothing on it")
		return
	}
	detail, err := read()
	if err != nil {
		d.check(false, name, err.Error(), "creditonce verify --config "+d.file)
		return
	}
	if schema < store.SchemaVersion {
		detail += fmt.Sprintf("; it has schema version %d, which serve raises to %d at its start, after a copy beside it", schema, store.SchemaVersion)
	}
	d.check(true, name, detail, "")
}

// compareStore compares the settings with the configuration. rest is what else there is to say.
func (d *doctor) compareStore(settings credit.Settings, size int64, rest string) (string, error) {
	d.settings, d.opened = settings, true
	if _, err := pinned(settings, string(d.c.Environment), pins(d.c)); err != nil {
		return "", err
	}
	return fmt.Sprintf("mode %s, %d MiB; %s", settings.Mode, size>>20, rest), nil
}

// readStore reads a whole store, which is small.
func (d *doctor) readStore(ctx context.Context, db *store.DB, size int64) (string, error) {
	settings, err := db.Settings(ctx)
	if err != nil {
		return "", fmt.Errorf("read settings: %w", err)
	}
	detail, err := d.compareStore(settings, size, "everything agrees")
	if err != nil {
		return "", err
	}
	report, err := db.Verify(ctx, nil)
	switch {
	case err != nil:
		return "", fmt.Errorf("verify: %w", err)
	case !report.Clean():
		return "", fmt.Errorf("%d findings, the first: %s", len(report.Findings)+report.More, report.Findings[0])
	}
	return detail, nil
}

func (d *doctor) space() {
	const name = "free space"
	dir := d.c.DataDir
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break // the data directory, or where it will be made
		}
	}
	free, err := freeBytes(dir)
	if err != nil {
		d.check(false, name, err.Error(), "run as the service's user")
		return
	}
	floor := uint64(max(d.c.Space.StopClaimsBelow, d.c.Space.RefuseIntakeBelow))
	d.check(free >= 2*floor, name, fmt.Sprintf("%d MiB at %s; claims stop below %d MiB, intake below %d MiB", free>>20, dir,
		d.c.Space.StopClaimsBelow>>20, d.c.Space.RefuseIntakeBelow>>20), "make room on the disk of "+d.c.DataDir+"; at least twice the higher floor is wanted")
}

// clock compares this machine's clock with the store's newest mark; each MT5 server's clock is compared with it too.
func (d *doctor) clock() {
	newest := d.settings.CreatedAt
	if d.settings.ModeAt.After(newest) {
		newest = d.settings.ModeAt
	}
	d.check(!newest.After(d.now.Add(time.Minute)), "clock", d.now.Format(time.DateTime)+" UTC", fmt.Sprintf(
		"the store was written at %s UTC, so this clock is behind; set it by NTP (timedatectl set-ntp true)", newest.Format(time.DateTime)))
}

func (d *doctor) ports(ctx context.Context) {
	for _, l := range []struct{ name, listen string }{{"webhooks", d.c.Webhooks.Listen}, {"api", d.c.API.Listen}} {
		name := "port of " + l.name
		if strings.HasSuffix(l.listen, ":0") {
			d.check(true, name, l.listen+" takes any free one", "")
			continue
		}
		if d.running {
			conn, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", l.listen)
			if err == nil {
				_ = conn.Close()
			}
			d.check(err == nil, name, l.listen+" is served", "a service has the store and does not answer there; see its log, or restart it")
			continue
		}
		socket, err := new(net.ListenConfig).Listen(ctx, "tcp", l.listen)
		if err == nil {
			_ = socket.Close()
			d.check(true, name, l.listen+" is free", "")
			continue
		}
		d.check(false, name, err.Error(), fmt.Sprintf("see which program holds it (ss -ltnp), or change %s.listen", l.name))
	}
}

// learned checks what is known of a server, and lists what is still assumed.
func (d *doctor) learned(label, build string) {
	name := "mt5 " + label + ": what is known"
	ask := fmt.Sprintf("creditonce mt5 probe --config %s --server %s --login LOGIN --operate", d.file, label)
	if d.running {
		d.check(true, name, "the store is in use, so that what the probe learned cannot be read; stop the service to see it", "")
		d.list(label, credit.Learned{})
		return
	}
	known := d.settings.LearnedOf(label)
	if known.Identity != d.c.MT5.Servers[label].Identity {
		known = credit.Learned{}
	}
	assumed, differs := d.list(label, known)
	switch {
	case known.At.IsZero():
		d.check(false, name, "nothing was measured yet: every answer below is assumed", ask+"   # LOGIN in a test group")
	case build != "" && known.Build != build:
		d.check(false, name, fmt.Sprintf("it was probed as version %s and is version %s now", known.Build, build), ask)
	case differs > 0:
		d.check(false, name, fmt.Sprintf("%d answers differ from what the client assumes (below)", differs), "read the probe's report, and docs/mt5.md")
	case assumed > 0:
		d.check(false, name, fmt.Sprintf("%d things that can be measured are still assumed (below)", assumed), ask)
	default:
		d.check(true, name, "probed at "+known.At.Format(time.DateTime)+" UTC; nothing differs", "")
	}
	if problem := visibilityProblem(d.c, label, known); problem != "" {
		d.check(false, "mt5 "+label+": quarantine", problem, "change credit.quarantine in "+d.file)
	}
	if problem := sessionsProblem(label, d.c.MT5.Servers[label], known); problem != "" {
		d.check(false, "mt5 "+label+": sessions", problem, "change mt5.servers."+label+".sessions in "+d.file)
	}
}

// list adds the table of assumptions for a server. assumed counts those that a probe could settle and that matter.
func (d *doctor) list(label string, known credit.Learned) (assumed, differs int) {
	for _, a := range probe.Assumptions() {
		entry := Assumed{Server: label, ID: a.ID, Asks: a.Asks, Assumes: a.Assumes, Source: a.Source, State: stateAssumed, Answer: a.Unaskable}
		i := slices.IndexFunc(known.Answers, func(l credit.LearnedAnswer) bool { return l.ID == a.ID })
		switch {
		case d.running:
			entry.State = stateUnread
		case i >= 0:
			entry.State, entry.Answer, entry.At = stateMeasured, known.Answers[i].Answer, known.Answers[i].At.Format(time.DateTime)
			if known.Answers[i].Differs {
				entry.State = stateDiffers
				differs++
			}
		case a.Unaskable == "" && a.Assumes != "" && a.ID != "amount.overdraw":
			assumed++ // taking more than there is has a flag of its own, and withdrawals need it first
		}
		d.found.Assumed = append(d.found.Assumed, entry)
	}
	return assumed, differs
}

// unheard is the observer of questions that are not worth a log.
func unheard() *observer { return &observer{log: zerolog.Nop()} }

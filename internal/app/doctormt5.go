package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
)

// server asks one MT5 server for its name and clock, on a connection of its own.
func (d *doctor) server(ctx context.Context, label string) {
	s := d.c.MT5.Servers[label]
	name := "mt5 " + label
	known := d.settings.LearnedOf(label)
	server, err := mt5Server(label, s, credit.Learned{}, systemClock{}, unheard())
	if err != nil {
		d.check(false, name, err.Error(), "creditonce check "+d.file)
		d.learned(label, "")
		return
	}
	q, err := server.Inquire(ctx)
	if err != nil {
		fix := "see that " + strings.Join(s.Addresses, ", ") + " can be reached from here and that MT5 allows this machine's address"
		if isServerConfig(err) {
			fix = fmt.Sprintf("correct mt5.servers.%s in %s (identity, login, password), or the manager's rights at MT5", label, d.file)
		}
		d.check(false, name, err.Error(), fix)
		d.learned(label, "")
		return
	}
	defer q.Close()
	build := q.Build()
	d.check(true, name, fmt.Sprintf("reached as manager %d; it calls itself %s, version %s", s.Login, s.Identity, build), "")
	d.certificate(name+": certificate", q.CertificateEnds(), "ask the MT5 administrator to renew it; where it is pinned, pin the new one in "+d.file)
	d.serverClock(ctx, label, q, known.Offset)
	q.Ask(ctx, "quit", nil)
	d.learned(label, build)
}

// clockTolerance is how far two clocks may be apart beside the zone.
const clockTolerance = 30 * time.Second

func (d *doctor) serverClock(ctx context.Context, label string, q *mt5.Inquiry, probed *time.Duration) {
	name := "mt5 " + label + ": clock"
	seconds, err := q.ServerTime(ctx)
	if err != nil {
		d.check(false, name, "it cannot be read: "+err.Error(), "see the rights of the manager at MT5")
		return
	}
	exact := time.Unix(seconds, 0).Sub(systemClock{}.Now())
	offset := exact.Round(15 * time.Minute)
	rest := (exact - offset).Abs().Round(time.Second)
	detail := fmt.Sprintf("%s from UTC, and %s apart from this machine's", signedOffset(offset), rest)
	moved := probed != nil && (offset-*probed).Abs() > time.Hour
	fix := "one of the two clocks is wrong: set this machine's by NTP (timedatectl set-ntp true), and ask for the server's"
	if moved {
		detail += ", while the probe saw " + signedOffset(*probed)
		fix = fmt.Sprintf("the server's zone was changed: creditonce mt5 probe --config %s --server %s --login LOGIN", d.file, label)
	}
	d.check(rest <= clockTolerance && offset.Abs() <= 15*time.Hour && !moved, name, detail, fix)
}

// signedOffset writes +02:00.
func signedOffset(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%02d:%02d", sign, int(d.Hours()), int(d.Minutes())%60)
}

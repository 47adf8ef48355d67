package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Target is a webhook listener that runs, ours or a peer's.
type Target struct {
	Addr, CAFile, Path, Secret string
	CPU                        func() time.Duration // of its process so far
}

// MeasureAccept puts a closed loop of so many connections on the target for the span, after a short warm-up.
func (p Programs) MeasureAccept(ctx context.Context, t Target, connections int, span time.Duration) (Accept, error) {
	before := t.CPU()
	done, err := p.Send(ctx, Load{
		Addr: t.Addr, CAFile: t.CAFile, Path: t.Path, Secret: t.Secret, Run: rand.Text()[:8], Connections: connections, Span: span, Minor: minor,
	})
	if err != nil {
		return Accept{}, err
	}
	if done.Other > 0 {
		return Accept{}, fmt.Errorf("%d of %d events were answered with neither 200 nor 503", done.Other, done.Sent)
	}
	whole := (span + warmUp).Seconds()
	return Accept{
		Connections: connections, PerSecond: float64(done.Accepted) / done.Span.Seconds(),
		P50: milliseconds(done.P50), P99: milliseconds(done.P99), Busy: done.Busy,
		ServiceCores: (t.CPU() - before).Seconds() / whole, LoadCores: done.CPU.Seconds() / whole,
	}, nil
}

// MeasureDisk measures the disk under dir with the span for each way of writing.
func MeasureDisk(ctx context.Context, dir string, span time.Duration) (Disk, error) {
	return measureDisk(ctx, dir, span)
}

// Product is the whole service of this program, running in a folder of its own beside a fake MT5 server.
type Product struct {
	mt5     *mt5Part
	service *service
	// Without is the same service with its commits left out; nil but in builds with the tag benchnocommit.
	Without *Product
}

// StartProduct starts the service with an empty store under dir; over TLS where secure is true. It must be stopped.
func (p Programs) StartProduct(ctx context.Context, dir string, secure bool) (*Product, error) {
	mt5, err := p.startMT5(dir)
	if err != nil {
		return nil, err
	}
	product := &Product{mt5: mt5}
	if product.service, err = p.openHouse(ctx, filepath.Join(dir, "product"), mt5, secure); err != nil {
		return nil, errors.Join(err, product.Stop())
	}
	if filled := product.service.house.filled; !canLeaveOut || filled {
		return product, nil // a full store beside an empty one would be no comparison
	}
	without, err := p.openHouse(ctx, filepath.Join(dir, "without"), mt5, secure, leftOut)
	if err != nil {
		return nil, errors.Join(err, product.Stop())
	}
	product.Without = &Product{service: without}
	return product, nil
}

func (p Programs) openHouse(ctx context.Context, dir string, mt5 *mt5Part, secure bool, env ...string) (*service, error) {
	h, err := newHouse(dir, mt5, secure)
	if err != nil {
		return nil, err
	}
	return p.serve(ctx, "serve", h, env...)
}

// Target is the product's webhook listener.
func (p *Product) Target() Target {
	return p.service.target()
}

func (s *service) target() Target {
	return Target{Addr: s.webhooks, CAFile: s.house.caFile, Path: "/webhooks/" + providerLabel, Secret: s.house.secret, CPU: s.cpu}
}

// Stop ends everything that StartProduct started.
func (p *Product) Stop() error {
	var errs []error
	if p.Without != nil {
		errs = append(errs, p.Without.Stop())
	}
	if p.service != nil {
		errs = append(errs, p.service.stop())
	}
	if p.mt5 != nil {
		errs = append(errs, p.mt5.stop())
	}
	return errors.Join(errs...)
}

// TemporaryFolder makes a folder under dir (empty: the system's) and returns what removes it.
func TemporaryFolder(dir string) (path string, remove func() error, err error) {
	if path, err = os.MkdirTemp(dir, "creditonce-bench-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the measurement: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	return path, func() error { return os.RemoveAll(path) }, nil
}

// OwnProcessorTime is what this process has used so far; 0 where the system does not tell.
func OwnProcessorTime() time.Duration {
	used, _ := processorTime(os.Getpid())
	return used
}

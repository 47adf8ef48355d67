package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkWebhookToAck sends signed webhooks at 100 a second, as a provider would, to the whole service over a
// socket, and reports how long the 2xx takes beside the raw fdatasync of the same disk in the same run. The promise
// is a p99 under 8 ms or 6 fdatasyncs, whichever is larger.
func BenchmarkWebhookToAck(b *testing.B) {
	const rate = 100
	r := newRig(b)
	r.start()
	sync1 := fdatasync(b, r.dir)
	took := make([]time.Duration, b.N)
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		event := r.maker.EventIntentSucceeded(r.payment(fmt.Sprintf("bench-%022d", i), 1000))
		wg.Go(func() {
			began := time.Now()
			if status := r.send(event); status != 200 {
				b.Errorf("answered %d", status)
			}
			took[i] = time.Since(began)
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	limit := max(8*time.Millisecond, 6*sync1)
	b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(sync1.Microseconds())/1000, "fdatasync-ms")
	b.ReportMetric(float64(p99)/float64(limit), "p99/limit")
}

// fdatasync is the median time of a 4 KiB append and sync on the disk of dir.
func fdatasync(b *testing.B, dir string) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	took := make([]time.Duration, 200)
	for i := range took {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

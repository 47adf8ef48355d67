package cli

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"creditonce/internal/admin"
	"creditonce/webhook/fakepsp"
)

// askWithin is what an operator's question may take while webhooks come in.
const askWithin = 50 * time.Millisecond

// BenchmarkStatusAndFindBesideWebhooks asks status and find over the socket while 100 signed webhooks a second are
// accepted, each of which becomes an open task at once, and reports the slowest percent beside the promise of 50 ms. What
// "who" takes, the cheapest question, is what this machine adds to any: on a busy one it alone may pass 50 ms.
func BenchmarkStatusAndFindBesideWebhooks(b *testing.B) {
	f := newOffice(b, true)
	c := admin.NewClient(f.sockets["dora"])
	stop := make(chan struct{})
	var load sync.WaitGroup
	sent := 0
	load.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			sent++
			p, err := f.maker.NewPayment(fmt.Sprintf("bench-%022d", sent), 1000, "usd", fakepsp.Options{})
			if err != nil {
				b.Error(err)
				return
			}
			e := f.maker.EventIntentSucceeded(p)
			load.Go(func() {
				status, err := fakepsp.Post(b.Context(), http.DefaultClient, f.public+"/webhooks/stripe", e.Body, fakepsp.Sign(pspSecret, e.Body, time.Now()))
				if err != nil || status != http.StatusOK {
					b.Errorf("webhook: %d %v", status, err)
				}
			})
		}
	})
	who, status, find := make([]time.Duration, b.N), make([]time.Duration, b.N), make([]time.Duration, b.N)
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-ask.C
		began := time.Now()
		if _, err := c.Who(b.Context()); err != nil {
			b.Fatal(err)
		}
		who[i] = time.Since(began)
		began = time.Now()
		if _, err := c.Status(b.Context()); err != nil {
			b.Fatal(err)
		}
		status[i] = time.Since(began)
		began = time.Now()
		if _, err := c.Find(b.Context(), fmt.Sprintf("bench-%022d", 1)); err != nil {
			b.Fatal(err)
		}
		find[i] = time.Since(began)
	}
	b.StopTimer()
	close(stop)
	load.Wait()
	for name, took := range map[string][]time.Duration{"who": who, "status": status, "find": find} {
		slices.Sort(took)
		p50, p99 := took[len(took)/2], took[len(took)*99/100]
		b.ReportMetric(float64(p50.Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(p99.Microseconds())/1000, name+"-p99-ms")
		b.ReportMetric(float64(p99)/float64(askWithin), name+"-p99/50ms")
	}
}

package stripe_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/stripe"
)

// BenchmarkMap reads a body of 3 KB. Its limit, measured in the same run, is one pass of json.Valid over the same bytes:
// nothing that reads JSON strictly does less.
func BenchmarkMap(b *testing.B) {
	var padding strings.Builder
	for i := range 14 {
		fmt.Fprintf(&padding, `,"x_detail_%02d":{"fingerprint":"%066d","checks":{"address_line1_check":null,"cvc_check":"pass"}}`, i, i)
	}
	body := []byte(strings.Replace(intentEvent, `,"metadata"`, padding.String()+`,"metadata"`, 1))
	p := provider(b, stripe.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Map(nil, body); err != nil {
			b.Fatal(err)
		}
	}
	ours := b.Elapsed() / time.Duration(b.N)
	begun := time.Now()
	for range b.N {
		if !json.Valid(body) {
			b.Fatal("the body is not valid")
		}
	}
	valid := time.Since(begun) / time.Duration(b.N)
	b.ReportMetric(float64(len(body)), "bytes")
	b.ReportMetric(float64(ours)/float64(valid), "x-json.Valid")
}

package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/standard"
	"creditonce/webhook/stripe"
)

// vector is one request of the shared set, as far as verifiers need it.
type vector struct {
	Scheme           string            `json:"scheme"`
	Name             string            `json:"name"`
	Secret           string            `json:"secret"`
	Headers          map[string]string `json:"headers"`
	BodyBase64       string            `json:"body_base64"`
	NowUnix          *int64            `json:"now_unix"`
	ToleranceSeconds *int64            `json:"tolerance_seconds"`
	Valid            *bool             `json:"valid"`

	header    http.Header
	body      []byte
	now       time.Time
	tolerance time.Duration
}

// verifiers hold one verifier for each scheme that exists. A new provider adds its line here and takes
// its scheme out of schemesToCome.
var verifiers = map[string]func(vector) error{
	"stripe": func(v vector) error {
		p, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte(v.Secret)}, MaxAge: max(v.tolerance, 1)})
		if err != nil {
			return err
		}
		// The vectors follow Stripe's own rule, which has no bound against the future. ErrFuture is
		// returned only where that rule accepts.
		if err := p.Verify(v.header, v.body, v.now); !errors.Is(err, stripe.ErrFuture) {
			return err
		}
		return nil
	},
	"standard-webhooks": func(v vector) error {
		p, err := standard.NewVerifier(standard.Signing{
			Secrets: [][]byte{[]byte(v.Secret)}, MaxAge: max(v.tolerance, 1), MaxFuture: max(v.tolerance, 1),
		})
		if err != nil {
			return err
		}
		return p.Verify(v.header, v.body, v.now)
	},
}

// schemesToCome are known schemes without a provider yet; their files are counted. A scheme that is in
// neither list fails: a file that is skipped silently proves nothing.
var schemesToCome = []string{
	"adyen-item", "adyen-payload", "checkout", "coinbase-commerce", "coinspaid", "confirmo", "cryptomus",
	"dlocal", "hook0", "mollie", "nowpayments", "nuvei", "paypal", "paysafe", "praxis", "rapyd", "skrill",
	"square",
}

func TestVectors_EveryVerifierAgreesWithThePublishedVerdict(t *testing.T) {
	t.Parallel()
	dir, set := os.LookupEnv("CREDITONCE_VECTORS")
	if !set {
		if os.Getenv("CI") == "true" {
			t.Fatal("CREDITONCE_VECTORS is not set; in CI the shared vectors must run")
		}
		t.Skip("CREDITONCE_VECTORS is not set; it names the directory of the shared webhook vectors")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("CREDITONCE_VECTORS names a directory without *.json files (error: %v)", err)
	}
	ran, waiting := 0, map[string]int{}
	for _, file := range files {
		v := readVector(t, file)
		verify, exists := verifiers[v.Scheme]
		switch {
		case exists:
			ran++
			t.Run(filepath.Base(file), func(t *testing.T) { checkVector(t, v, verify) })
		case slices.Contains(schemesToCome, v.Scheme):
			waiting[v.Scheme]++
		default:
			t.Run(filepath.Base(file), func(t *testing.T) { t.Errorf("unknown scheme %q", v.Scheme) })
		}
	}
	t.Logf("%d vectors ran; providers that do not exist yet: %v", ran, waiting)
}

func checkVector(t *testing.T, v vector, verify func(vector) error) {
	t.Helper()
	if v.Valid == nil {
		t.Fatal("the file has no verdict")
	}
	if err := verify(v); (err == nil) != *v.Valid {
		t.Errorf("%s: verifier says %v, the vector says valid=%t", v.Name, err, *v.Valid)
	}
}

func readVector(t *testing.T, file string) vector {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := vector{header: http.Header{}, now: time.Unix(1_760_000_000, 0), tolerance: 300 * time.Second}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	if v.body, err = base64.StdEncoding.DecodeString(v.BodyBase64); err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	if strings.TrimSpace(v.Scheme) == "" {
		t.Fatalf("%s: no scheme", filepath.Base(file))
	}
	for name, value := range v.Headers {
		v.header.Add(name, value)
	}
	if v.NowUnix != nil {
		v.now = time.Unix(*v.NowUnix, 0)
	}
	if v.ToleranceSeconds != nil {
		v.tolerance = time.Duration(*v.ToleranceSeconds) * time.Second
	}
	return v
}

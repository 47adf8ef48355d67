package config

import "time"

// Config is a whole configuration: absent options hold their defaults, file paths are absolute, money is text.
type Config struct {
	// File is the path of the file it was read from.
	File string
	// Demo marks the file of a demo store (only `creditonce demo` writes such files): waiting times may be shorter
	// than what is safe against a real MT5 server. Environment is then Test.
	Demo bool
	// Environment is Live or Test; the store pins it at first use (design.md §2).
	Environment Environment
	// DataDir is the folder of the store (file creditonce.db).
	DataDir   string
	Store     Store
	Log       Log
	Webhooks  Webhooks
	API       API
	Admin     Admin
	Providers map[string]Provider // by label, the last part of the webhook's path
	MT5       MT5
	Credit    Credit
	Limits    Limits
	Rates     Rates
	Space     Space
	Schedules Schedules
	Reconcile Reconcile
	Alerts    Alerts
	// ShutdownTimeout bounds a clean stop; it exceeds the longest call to any MT5 server, so that a call under way
	// can finish and be recorded.
	ShutdownTimeout time.Duration

	// Warnings are doubtful but workable settings, in the order of the file.
	Warnings []Fault
	// Checked says what Load found in order outside the text, one line each (secret files, certificates); empty after Parse.
	Checked []string
}

// Environment says which money a store is about.
type Environment string

// The two environments.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Log is where and how much the service reports.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // json or console
}

// Webhooks is the public listener.
type Webhooks struct {
	Listen         string   // host:port; port 0 asks for a free one
	TLS            *TLSPair // nil: plain HTTP, for a proxy on the same host
	TrustedProxies []string // CIDR ranges, in canonical form, whose X-Forwarded-For is believed
	MaxBody        int64    // bytes of one body, at most MaxBodyCeiling
	MaxInFlight    int      // requests handled at once; more are answered 503
}

// MaxBodyCeiling is the largest webhook body that is ever accepted, in bytes (design.md §5.1).
const MaxBodyCeiling = 256 << 10

// TLSPair names a PEM certificate chain and its private key.
type TLSPair struct {
	CertFile string
	KeyFile  string
}

// API is the listener of the firm's own server.
type API struct {
	Listen string
	TLS    *TLSPair
	Keys   []APIKey // in the order of the file; names and hashes are unique
	Rate   Rate     // of each key, and of each address without a valid key
}

// Rate bounds the requests of one caller.
type Rate struct {
	PerSecond int
	Burst     int // at once, before PerSecond counts
}

// APIKey is one bearer key: only its hash is known.
type APIKey struct {
	Name   string
	SHA256 [32]byte // of the whole key text, "co_" included
	Scopes []string // a subset of Scopes(), never accounts:write together with deposits:write
}

// Admin is the operators' unix socket.
type Admin struct {
	Socket string // absolute path
	Group  string // name or number of the unix group that may open it; empty: the service's own
}

// Provider is one payment provider under its label.
type Provider struct {
	Kind      string   // KindStripe or KindStandard
	Account   string   // the firm's own merchant account id at the provider; pinned at first use
	Secrets   []Secret // active signing secrets, at least one
	MaxAge    time.Duration
	MaxFuture time.Duration
	Payload   Payload // of KindStandard
	List      List    // of KindStripe

	Settlement Settlement
}

// List says how the provider's own list of events is pulled, for what no webhook brought (design.md §5.6).
type List struct {
	Key   Secret // API key; not set: nothing is pulled
	URL   string // of the API, without a path
	Every time.Duration
}

// The kinds of provider this build knows.
const (
	KindStripe   = "stripe"
	KindStandard = "standard" // any system that signs by Standard Webhooks
)

// Payload says where the messages of a KindStandard provider keep what. A path is names with full stops between, from
// the outermost object inward; an optional one that is not set is empty.
type Payload struct {
	Type       string
	OccurredAt string
	Livemode   string // path; empty: Live
	Live       bool   // of every message, where there is no Livemode
	Merchant   string // optional
	Status     string // optional
	AmountIs   string // "minor" or "decimal"
	Paid       PaidMessages
	Refund     ReversalMessages // without types: none are sent
	Dispute    ReversalMessages
	Ignored    []string
	Exponents  map[string]int // decimal places by currency, before those of ISO 4217
}

// PaidMessages are the types that say that money was received, and where such a message keeps what.
type PaidMessages struct {
	Types                           []string
	Payment, Amount, Currency, Code string
	Part                            string // optional
}

// ReversalMessages are the types that say that money goes back or is contested, and where such a message keeps what.
type ReversalMessages struct {
	Types            []string
	Payment          string
	Movement         string // optional
	Amount, Currency string // optional, both or none
}

// MT5 is every MetaTrader 5 server that accounts may be on.
type MT5 struct {
	Servers map[string]MT5Server // by label
}

// MT5Server is one MT5 Web API.
type MT5Server struct {
	Identity    string   // the name the server gives at login (pinned; part of every reference, design.md §8)
	Addresses   []string // host:port, tried in order
	Login       uint64   // of the manager
	Password    Secret
	TLS         MT5TLS
	Sessions    int            // connections, sharded by login
	CallTimeout time.Duration  // of one call, answer included
	Agent       string         // the agent text of the authentication (mt5-webapi.md §1.3)
	Currencies  map[string]int // accepted account currency → its digits
	Groups      []string       // masks of accepted account groups, first match decides, "!" excludes; empty accepts all
	ProbeGroups []string       // masks of the test groups that `mt5 probe` may work in; empty: none

	ReconcileGroups []string    // masks of the groups whose logins are all read for the reconciliation, beside those that are known
	Clock           ServerClock // how the server's own clock runs through the year
}

// MT5TLS says which certificate an MT5 server may show. CAFile and PinSHA256 empty: the system's roots. There is no unverified mode.
type MT5TLS struct {
	CAFile    string    // PEM roots that replace the system's
	PinSHA256 *[32]byte // SHA-256 of the server certificate's DER form
	// ServerName is the name that must stand in the certificate; empty: the host of the address.
	ServerName string
}

// Credit is the timing of claims and looks (design.md §6, §7).
type Credit struct {
	Lease             time.Duration   // of one claim
	SendDeadline      time.Duration   // claim to first byte
	FreshFor          time.Duration   // account check to send
	Quarantine        time.Duration   // before "absent" may be believed
	SecondLookAfter   time.Duration   // between the two looks of "absent"
	Looks             []time.Duration // when the first looks come, from the end of the call, ascending; at least one
	LookEvery         time.Duration   // after the last of Looks
	LookEveryWithTask time.Duration   // once a person has a task
	TaskAfter         time.Duration   // of no answer before the call
	DepositExpiry     time.Duration   // default life of a deposit record
	HeldGrace         time.Duration   // before a held row without deposit becomes a task
	ReissueWatch      time.Duration   // how long a re-issued row is watched for a second deal
}

// Limits are sums per account currency, as decimal text such as "10000.00". Every currency of every MT5 server has the first two.
type Limits struct {
	PerCredit   map[string]string
	PerLoginDay map[string]string // per login and UTC day
	PerHour     map[string]string // all credits of an hour together; a currency without one has no such limit
}

// Pair is a conversion: credited = paid × rate.
type Pair struct {
	Paid, Credited string // currencies; "EUR/USD" in the file
}

// Band bounds a rate, both ends included, as decimal text; Min is above zero.
type Band struct {
	Min, Max string
}

// Rates bounds conversions; a pair without a band is refused.
type Rates struct {
	Bands map[Pair]Band
}

// Store is what watches over the store.
type Store struct {
	// Witness is the file that knows how many claims the store has made; never inside DataDir, best on another disk.
	Witness string
	// BackupDir is the one folder into which the running service writes backups; never inside DataDir.
	BackupDir string
}

// Space are the floors and the ceiling of the store's disk use, in bytes.
type Space struct {
	StopClaimsBelow   int64
	RefuseIntakeBelow int64
	MaxStore          int64
}

// Schedules are cron specs of five fields, in UTC; "" means never (written "off").
type Schedules struct {
	Verify    string
	Reconcile string
}

// Scopes returns what an API key may be allowed to do, in the order of the documentation.
func Scopes() []string {
	return []string{scopeAccountsWrite, "accounts:read", scopeDepositsWrite, "deposits:read"}
}

const (
	scopeAccountsWrite = "accounts:write"
	scopeDepositsWrite = "deposits:write"
)

// providerKinds are the kinds of provider this build knows.
func providerKinds() []string { return []string{KindStripe, KindStandard} }

// Default returns the value of every option that the file need not hold. Providers, servers, limits and bands are
// empty; DefaultProvider and DefaultMT5Server give the defaults inside them.
func Default() Config {
	return Config{
		DataDir: "/var/lib/creditonce",
		Log:     Log{Level: "info", Format: "json"},
		Webhooks: Webhooks{
			Listen:      "127.0.0.1:8080",
			MaxBody:     MaxBodyCeiling,
			MaxInFlight: 256,
		},
		API: API{Listen: "127.0.0.1:8081", Rate: Rate{PerSecond: 500, Burst: 1000}},
		Credit: Credit{
			Lease:           2 * time.Minute,
			SendDeadline:    2 * time.Second,
			FreshFor:        10 * time.Second,
			Quarantine:      10 * time.Minute,
			SecondLookAfter: time.Minute,
			Looks: []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second,
				time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute},
			LookEvery:         time.Minute,
			LookEveryWithTask: 10 * time.Minute,
			TaskAfter:         15 * time.Minute,
			DepositExpiry:     24 * time.Hour,
			HeldGrace:         10 * time.Minute,
			ReissueWatch:      48 * time.Hour,
		},
		Space:           Space{StopClaimsBelow: 512 << 20, RefuseIntakeBelow: 128 << 20, MaxStore: 64 << 30},
		Schedules:       Schedules{Verify: "30 3 * * *", Reconcile: "15 * * * *"},
		Reconcile:       Reconcile{TimeZone: "UTC", After: 4 * time.Hour, Lookback: 35 * day},
		ShutdownTimeout: 30 * time.Second,
	}
}

// DefaultProvider returns the defaults of one provider of the kind.
func DefaultProvider(kind string) Provider {
	p := Provider{Kind: kind, MaxAge: time.Hour, MaxFuture: 5 * time.Minute, Settlement: Settlement{UsualDelay: 7 * day, Every: 4 * day, TimeZone: "UTC"}}
	switch kind {
	case KindStandard:
		p.MaxAge = 5 * time.Minute // the rule's own bound (providers.md §2.14)
	case KindStripe:
		p.List = List{URL: "https://api.stripe.com", Every: 5 * time.Minute}
	}
	return p
}

// DefaultMT5Server returns the defaults of one MT5 server.
func DefaultMT5Server() MT5Server {
	return MT5Server{Sessions: 2, CallTimeout: 20 * time.Second, Agent: "creditonce"}
}

package bench

// Result is everything a run measured. Rates are per second, times in milliseconds.
type Result struct {
	Host    Host     `json:"host"`
	Disk    Disk     `json:"disk"`
	Accept  []Accept `json:"accept"`
	Paced   Paced    `json:"paced"`
	Lookup  Lookup   `json:"lookup"`
	Wire    Credited `json:"credited_at_fake_mt5"`
	Store   []Lanes  `json:"credited_in_the_store_alone"`
	Large   *Large   `json:"large,omitempty"` // with --events: what the store held before all of the above
	Advice  []string `json:"advice"`
	Seconds float64  `json:"seconds"` // of the whole run
}

// Host says where the figures hold.
type Host struct {
	CPUs    int     `json:"cpus"`
	System  string  `json:"system"`
	Go      string  `json:"go"`
	Rounds  int     `json:"rounds"`
	PerStep float64 `json:"seconds_a_step"`
	TLS     bool    `json:"tls"`
}

// Accept is the webhook listener under a closed loop: each connection sends its next event once the last is answered.
// The events are payments that wait for their deposit: event, body and credit row are on disk before the 2xx.
type Accept struct {
	Connections  int     `json:"connections"`
	PerSecond    float64 `json:"per_second"`
	P50          float64 `json:"p50_ms"`
	P99          float64 `json:"p99_ms"`
	Busy         int     `json:"busy"`          // answered 503 in the counted span
	PerSync      float64 `json:"per_fdatasync"` // PerSecond to Disk.Overwrite
	ServiceCores float64 `json:"service_cores"` // processors that the service kept busy; 0 where the system does not tell
	LoadCores    float64 `json:"load_cores"`    // and the load
	// Without and Ratio are there in builds with the tag benchnocommit: the same listener with its commit left out, right
	// after each measurement, and what share of that rate the whole listener reaches.
	Without float64 `json:"without_commit_per_second,omitempty"`
	Ratio   float64 `json:"of_without_commit,omitempty"`
}

// Paced is the time to the 2xx at a rate that a provider may have, counted from the planned moment of sending.
type Paced struct {
	Rate  int     `json:"rate"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Limit float64 `json:"limit_ms"` // 8 ms, or six syncs of the disk where that is more
	Ratio float64 `json:"of_limit"`
}

// Lookup is GET /v1/deposits/{code}, 50 times a second, while 128 connections deliver; and while nobody does, which
// tells what the machine itself adds.
type Lookup struct {
	IdleP50 float64 `json:"idle_p50_ms"`
	IdleP99 float64 `json:"idle_p99_ms"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Limit   float64 `json:"limit_ms"`
	Ratio   float64 `json:"of_limit"`
}

// Credited is how fast pending rows become done over the real wire: account, look, claim, balance call, verified deal.
type Credited struct {
	Sessions  int     `json:"sessions"`
	PerSecond float64 `json:"per_second"`
	PerSync   float64 `json:"per_fdatasync"`
	// AcceptPerSecond is how fast the payments of these rows were taken in before, each with its deposit.
	AcceptPerSecond float64 `json:"accept_with_deposit_per_second"`
}

// Lanes is how fast rows become done where MT5 takes no time: the store alone, two commits a row.
type Lanes struct {
	Lanes     int     `json:"lanes"`
	PerSecond float64 `json:"per_second"`
	PerSync   float64 `json:"per_fdatasync"`
}

// Large is a store that holds many events.
type Large struct {
	Events    int     `json:"events"`
	Fill      float64 `json:"fill_per_second"` // store.Accept from 512 callers, every commit synced
	Bytes     int64   `json:"bytes"`           // of the file
	Open      float64 `json:"open_ms"`         // store.Open
	Serving   float64 `json:"serving_ms"`      // from the start of the process to its listeners
	Anonymous float64 `json:"anonymous_mib"`   // resident memory of the idle service that is no file's; 0: not known
}

package admin

import "time"

// Act is what a person asks for. Kinds, subjects and parameters are those of internal/desk.
type Act struct {
	Kind    string            `json:"kind"`
	Subject string            `json:"subject"`
	Params  map[string]string `json:"params,omitempty"`
	Reason  string            `json:"reason"`
}

// Verdict is what a person says about a proposal. Digest is the proposal's as it was shown; a rejection needs none.
type Verdict struct {
	Digest string `json:"digest,omitempty"`
	Reason string `json:"reason"`
}

// Outcome is what became of an act: it was done, or another person must confirm the proposal.
type Outcome struct {
	Done     bool      `json:"done"`
	Text     string    `json:"text"` // what happened, to what
	Proposal *Proposal `json:"proposal,omitempty"`
	Credits  []Credit  `json:"credits,omitempty"` // as they are now
	Opened   []Task    `json:"tasks_opened,omitempty"`
	Closed   []Task    `json:"tasks_closed,omitempty"`
	Task     *Task     `json:"task,omitempty"`
	People   []Person  `json:"people,omitempty"`
	Look     *Look     `json:"look,omitempty"`   // that was made for the act
	Waits    string    `json:"waits,omitempty"`  // what a proposal still waits for; empty: it can be confirmed now
	Secret   string    `json:"secret,omitempty"` // a new API key, shown this once
	Notice   string    `json:"notice,omitempty"` // number of a test message; a channel that delivered it has at least this
}

// Channel is one place where people are told, and how far it has come.
type Channel struct {
	Name        string    `json:"name"`
	Delivered   uint64    `json:"delivered,string"`         // number of the last message that arrived
	Sending     uint64    `json:"sending,string,omitempty"` // last of those that are being sent
	Waiting     int       `json:"waiting"`
	Oldest      time.Time `json:"oldest_at,omitzero"` // of what waits
	Attempts    int       `json:"attempts"`           // of what is being sent
	Failure     string    `json:"failure,omitempty"`  // of the last attempt
	FailedAt    time.Time `json:"failed_at,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
}

// Proposal is an act that waits for a second person, bound by Digest to exactly what it would do.
type Proposal struct {
	ID         string            `json:"id"`
	Kind       string            `json:"kind"`
	Subject    string            `json:"subject"`
	Params     map[string]string `json:"params,omitempty"`
	State      string            `json:"state"`
	Summary    string            `json:"summary"`
	Reason     string            `json:"reason"`
	Digest     string            `json:"digest"`
	ProposedBy string            `json:"proposed_by"`
	ProposedAt time.Time         `json:"proposed_at"`
	ExpiresAt  time.Time         `json:"expires_at"`
	Confirm    []string          `json:"confirm"` // roles that may confirm
	DecidedBy  string            `json:"decided_by,omitempty"`
	DecidedAt  time.Time         `json:"decided_at,omitzero"`
	Decision   string            `json:"decision,omitempty"` // the reason given
	Permit     *Permit           `json:"permit,omitempty"`   // that a confirmed probe has left
}

// Permit lets the probe touch one login of one MT5 server, once.
type Permit struct {
	Server    string    `json:"server"`
	Identity  string    `json:"identity"` // the name that the server calls itself
	Login     uint64    `json:"login,string"`
	ExpiresAt time.Time `json:"expires_at"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	UsedBy    string    `json:"used_by,omitempty"`
	VoidedAt  time.Time `json:"voided_at,omitzero"`
	Void      string    `json:"void,omitempty"` // why it counts no more
}

// PermitClaim is what a probe is about to touch.
type PermitClaim struct {
	Server   string `json:"server"`
	Identity string `json:"identity"`
	Login    uint64 `json:"login,string"`
}

// Person is somebody who may act.
type Person struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Users     []string  `json:"users"`
	Roles     []string  `json:"roles"`
	Disabled  bool      `json:"disabled"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}

// Bootstrap names the first two people of a store.
type Bootstrap struct {
	People []Person `json:"people"`
	Reason string   `json:"reason"`
}

// Key is an API key of the portal; only its hash is known.
type Key struct {
	Name      string    `json:"name"`
	Source    string    `json:"source"` // config or store
	Scopes    []string  `json:"scopes"`
	SHA256    string    `json:"sha256"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	CreatedBy string    `json:"created_by,omitempty"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// NewKey asks for a key.
type NewKey struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	Reason string   `json:"reason"`
}

// AuditEntry is one line of the operators' journal.
type AuditEntry struct {
	ID       string            `json:"id"`
	At       time.Time         `json:"at"`
	Person   string            `json:"person"`
	User     string            `json:"user,omitempty"`
	Kind     string            `json:"kind"`
	Subject  string            `json:"subject"`
	Result   string            `json:"result"` // did, proposed, confirmed, rejected or used
	Reason   string            `json:"reason,omitempty"`
	Params   map[string]string `json:"params,omitempty"`
	Proposal string            `json:"proposal,omitempty"`
	Voided   []string          `json:"voided,omitempty"` // proposals that count no more
}

// Found is one hit of a search.
type Found struct {
	Kind   string `json:"kind"` // credit, deposit, event, task, account
	ID     string `json:"id"`
	By     string `json:"by"`               // what of it is the text: ticket, login, reference, ...
	Credit string `json:"credit,omitempty"` // that it leads to
}

// Status is one screen about the whole service.
type Status struct {
	Environment string    `json:"environment"`
	Mode        string    `json:"mode"`
	ModeReason  string    `json:"mode_reason,omitempty"`
	ModeBy      string    `json:"mode_by,omitempty"`
	ModeAt      time.Time `json:"mode_at"`
	CutoverAt   time.Time `json:"cutover_at,omitzero"`
	// Doubt is why the store may not be the one that the last calls were made from; empty: nothing speaks against it.
	Doubt string `json:"doubt,omitempty"`
	// Restore is the restore or takeover that waits for its release, or whose rows are still going on; left out else.
	Restore *Restore `json:"restore,omitempty"`
	// Stops are the reasons for which nothing is credited now, on every login or on those of one MT5 server; none: payments are credited.
	Stops []Stop `json:"stops"`
	// Recon is how far the reconciliation has come; left out where the service does not reconcile.
	Recon *ReconStanding `json:"reconciliation,omitempty"`
	// Pulls tell how far the list of each provider that is pulled has come.
	Pulls []Pull `json:"pulls"`

	Credits     map[string]int `json:"credits"`
	OldestDoubt time.Time      `json:"oldest_unknown_at,omitzero"` // since when the oldest unknown row is unknown
	OpenTasks   int            `json:"open_tasks"`
	TasksByKind []TaskCount    `json:"open_tasks_by_kind"`
	Proposals   int            `json:"open_proposals"`  // that can still be confirmed
	Moved       int            `json:"moved_proposals"` // that can only be rejected: what they are about has moved on
	Events      int            `json:"events"`
	People      int            `json:"people"`
	// Quarantine is how many seconds are left until credits of earlier processes can be proven absent.
	Quarantine int     `json:"quarantine_seconds"`
	Service    Service `json:"service"`
}

// Stop is a reason for which nothing is credited now. Payments wait meanwhile and go on when it ends.
type Stop struct {
	Key    string    `json:"key"`              // "mode", "doubt", "restore", "start", "witness", "disk", "mt5/main"
	Server string    `json:"server,omitempty"` // MT5 server whose logins wait; left out: all do
	Since  time.Time `json:"since"`
	Why    string    `json:"why"`
	Next   string    `json:"next"` // what ends it
}

// Pull is how far the pull of a provider's own list of events has come.
type Pull struct {
	Provider   string    `json:"provider"`
	CompleteTo time.Time `json:"complete_to,omitzero"` // everything that was listed up to here is in the store
	PulledAt   time.Time `json:"pulled_at,omitzero"`   // when the last complete pull was; left out: there was none yet
	Events     int       `json:"events"`               // that it listed
	Missed     uint64    `json:"missed"`               // ever: events that no webhook had brought
	MissedAt   time.Time `json:"missed_at,omitzero"`   // the newest such
	Failing    time.Time `json:"failing_since,omitzero"`
	Problem    string    `json:"problem,omitempty"` // of the last pull
}

// Restore is how far a restore or takeover has come.
type Restore struct {
	Kind       string    `json:"kind"` // restore or takeover
	At         time.Time `json:"at"`
	Since      time.Time `json:"newest_record_at"` // that the file had
	MovedAt    time.Time `json:"rows_moved_at,omitzero"`
	ReleasedAt time.Time `json:"released_at,omitzero"`
	Gaps       []Gap     `json:"gaps"`
}

// Gap is what may be missing of one provider since the file's newest record.
type Gap struct {
	Provider string    `json:"provider"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to,omitzero"`
	Complete bool      `json:"complete"`
	By       string    `json:"by,omitempty"`
}

// TaskCount counts the open tasks of one kind.
type TaskCount struct {
	Kind   string    `json:"kind"`
	Open   int       `json:"open"`
	Oldest time.Time `json:"oldest_at"`
}

// Service is what the process knows about itself.
type Service struct {
	Version    string    `json:"version"`
	StartedAt  time.Time `json:"started_at"`
	Store      string    `json:"store"`
	StoreBytes int64     `json:"store_bytes,string"`
	FreeBytes  int64     `json:"free_bytes,string"` // on the store's disk; -1: cannot be measured
	Sessions   []Session `json:"mt5_sessions"`
	// Alarms that could not be delivered yet; -1 where the service sends none.
	Alarms int `json:"undelivered_alarms"`
	// AlarmChannels are the channels on which alarms wait.
	AlarmChannels []AlarmChannel `json:"alarm_channels,omitempty"`
}

// AlarmChannel is one place where people are told, while something waits for it.
type AlarmChannel struct {
	Name     string    `json:"name"`
	Waiting  int       `json:"waiting"` // notices that were not delivered yet
	Oldest   time.Time `json:"oldest_at"`
	Attempts int       `json:"attempts"`          // of the message that is being sent
	Failure  string    `json:"failure,omitempty"` // of the last attempt
	FailedAt time.Time `json:"failed_at,omitzero"`
}

// Session is one connection to an MT5 server.
type Session struct {
	Server  string    `json:"server"`
	Index   int       `json:"index"`
	Open    bool      `json:"open"`
	Ready   bool      `json:"ready"` // it can be asked: it is open, and the server's clock is known
	Address string    `json:"address,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Reason  string    `json:"reason,omitempty"` // why it is not open, or not ready
}

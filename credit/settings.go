package credit

import "time"

// Mode says what the service may do (design §12). It is stored.
type Mode string

// The modes.
const (
	ModeObserve Mode = "observe" // accepts, stores, looks; never calls a balance operation
	ModeLive    Mode = "live"
	ModeHold    Mode = "hold" // intake and looking go on, claims do not
)

// Settings are the stored facts about the whole store, written at first use and by modes.
type Settings struct {
	StoreID     string    `json:"store_id"`
	Environment string    `json:"environment"` // "live" or "test"; pinned
	Mode        Mode      `json:"mode"`
	ModeReason  string    `json:"mode_reason,omitempty"`
	ModeBy      string    `json:"mode_by,omitempty"` // who set it, where people did
	ModeAt      time.Time `json:"mode_at"`
	CutoverAt   time.Time `json:"cutover_at,omitzero"` // payments dated before it are pre-cutover
	Demo        bool      `json:"demo,omitempty"`      // made by the demo: may run with short waits
	CreatedAt   time.Time `json:"created_at"`
	Pins        []Pin     `json:"pins,omitempty"`    // sorted by Name
	Learned     []Learned `json:"learned,omitempty"` // about the MT5 servers, sorted by Server

	// Instance is drawn at random when the store is made, and anew at each restore and takeover: two files that went apart
	// have different ones. Empty in a store of the first schema that no service has opened since.
	Instance string `json:"instance,omitempty"`
	Place    *Place `json:"place,omitempty"` // where it was last run; nil: not yet
	Doubt    *Doubt `json:"doubt,omitempty"` // nil: none

	Breaches []string `json:"breaches,omitempty"` // keys of what was found that cannot be, oldest first: told once

	Restore *Restore `json:"restore,omitempty"` // the newest restore or takeover; nil: there never was one

	Hour *Hour `json:"hour,omitempty"` // what was done by itself of late; nil: nothing was

	Pulls []Pulled `json:"pulls,omitempty"` // of providers whose list is pulled, sorted by Provider
}

// Pin is a label of the config and what it meant at first use; a change is refused (design §2).
type Pin struct {
	Name  string `json:"name"`  // "provider/stripe-eu", "mt5/main"
	Value string `json:"value"` // "stripe acct_123", "ExampleBroker-Live"
}

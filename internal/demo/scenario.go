package demo

import (
	"context"
	"slices"
	"time"

	"creditonce/internal/config"
	"creditonce/webhook/fakepsp"
)

// All names the run of every scenario; Mixed is the show without a failure of its own.
const (
	All   = "all"
	Mixed = "mixed"
)

// scenario is one line of the table: what happens, and what must have become of it.
type scenario struct {
	name  string
	story string // one sentence for a viewer: what goes wrong, and what must come of it

	deposits int  // when nobody says how many
	stays    bool // goes on until it is stopped
	disorder fakepsp.Disorder

	// calls is how many calls each credited row must have needed at least: the sign that the failure took the way it
	// should. More than needed shows as doubled deals, not here. Zero: one call.
	calls int
	// tasks are the open tasks in the end, by kind, for each deposit.
	tasks []string
	// once are further open tasks in the end, one of each kind.
	once []string

	play func(context.Context, *show) error
	// after happens when serve has stopped, on the files that it left; nil: nothing does.
	after func(context.Context, *show, *config.Config) error
}

// Info is one line of the list of scenarios.
type Info struct{ Name, Story string }

// Scenarios lists the names that Options.Scenario may have, All excepted, in the order in which All runs them; Mixed
// comes first and is not part of All.
func Scenarios() []Info {
	var out []Info
	for _, sc := range scenarios() {
		out = append(out, Info{sc.name, sc.story})
	}
	return out
}

func scenarioNamed(name string) (scenario, bool) {
	for _, sc := range scenarios() {
		if sc.name == name {
			return sc, true
		}
	}
	return scenario{}, false
}

func scenarios() []scenario {
	return append([]scenario{mixedScene()}, slices.Concat(providerScenes(), mt5Scenes(), []scenario{booksScene()})...)
}

// mixedScene is plain `demo`.
func mixedScene() scenario {
	return scenario{
		name: Mixed, deposits: 12, stays: true,
		story:    "The provider repeats, reorders and delays its events, and MT5 loses an answer now and then.",
		disorder: fakepsp.Disorder{Repeat: 40, Reorder: 40, MaxDelay: 400 * time.Millisecond},
		play:     playMixed,
	}
}

// providerScenes are about what the provider, the portal and the client's browser do.
func providerScenes() []scenario {
	return []scenario{
		{
			name: "duplicate-webhook", deposits: 3, play: playDuplicateWebhook,
			story: "Each event is delivered five times; the payment is credited once.",
		},
		{
			name: "two-events-one-payment", deposits: 3, play: playTwoEvents,
			story: "Three different events say that one payment succeeded, and come again under new ids, shuffled: one credit.",
		},
		{
			name: "webhook-lost", deposits: 3, play: playWebhookLost,
			story: "The webhook never comes: the payment is found in the provider's own list of events and credited once.",
		},
		{
			name: "redirect-first", deposits: 3, play: playRedirectFirst,
			story: "The client is back on the return page before the webhook comes: the page only reads, the webhook credits.",
		},
		{
			name: "event-before-deposit", deposits: 3, play: playEventBeforeDeposit,
			story: "The webhook comes before the deposit record: the payment waits, held, and goes on once the record is made.",
		},
		{
			name: "amount-differs", deposits: 3, play: playAmountDiffers, tasks: []string{"held"},
			story: "The client pays less than the deposit says: nothing is credited, a person decides.",
		},
		{
			name: "paid-twice", deposits: 3, play: playPaidTwice, tasks: []string{"held"},
			story: "The client pays one deposit twice: the first payment is credited, the second waits for a person.",
		},
		{
			name: "refund-later", deposits: 3, play: playRefundLater, tasks: []string{"refund"},
			story: "A credited payment is refunded: a person gets a task, nothing is taken back by itself.",
		},
		{
			name: "wrong-login", deposits: 3, play: playWrongLogin, tasks: []string{"held"},
			story: "The firm knows the login and MT5 does not: held, no deal. And nobody makes a deposit for another client's login.",
		},
	}
}

// mt5Scenes are about the gap between our store and MT5.
func mt5Scenes() []scenario {
	return []scenario{
		{
			name: "crash-after-claim", deposits: 3, play: playCrashAfterClaim,
			story: "serve is killed right after it called MT5, which never saw the call: nobody knows, until MT5 is asked after the quarantine.",
		},
		{
			name: "timeout-applied", deposits: 3, play: playTimeoutApplied,
			story: "MT5 credits the account, but its answer comes after the time-out: the deal is found, not repeated.",
		},
		{
			name: "timeout-not-applied", deposits: 3, play: playTimeoutNotApplied, calls: 2,
			story: "MT5 swallows the call: after the quarantine two complete looks prove that there is no deal, and it is called once more.",
		},
		{
			name: "store-fails-after-deal", deposits: 3, play: playStoreFails,
			story: "MT5 has credited the account and our disk fails before we can write it down: serve ends, starts again, and finds the deal.",
		},
		{
			name: "wrong-login-in-answer", deposits: 3, play: playWrongLoginInAnswer,
			story: "MT5 answers with another account's data: the answer is not believed, the deal is looked up.",
		},
		{
			name: "empty-answer", deposits: 3, play: playEmptyAnswer,
			story: "MT5 credits and answers with nothing, and then shows no deals: an empty answer is no answer, never \"not credited\".",
		},
		{
			name: "late-execution", deposits: 3, play: playLateExecution,
			story: "MT5 carries the call out two seconds after we gave up waiting: the quarantine outlasts it, the deal is found.",
		},
		{
			name: "busy-login", deposits: 12, play: playBusyLogin,
			story: "One login with 3,000 trading deals gets many deposits, and MT5's answer is lost now and then.",
		},
	}
}

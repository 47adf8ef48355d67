package store

import (
	"encoding/binary"
	"time"

	"creditonce/credit"
)

// schemaVersion is the layout that this file describes. A store of another one is not opened.
const schemaVersion = 3

// Buckets that are no table. Every other bucket is named in a table below, in schema_desk.go, in schema_recon.go or in outbox.go; no other
// file names one.
const (
	bucketMeta     = "meta"     // "schema", "settings", "claims" and "recon"
	bucketBodies   = "bodies"   // event number -> body, zstd
	bucketCounters = "counters" // table, label -> how many rows are counted there
)

var (
	metaSchema   = []byte("schema")
	metaSettings = []byte("settings")
	metaClaims   = []byte("claims") // since version 2: how many claims were ever made
	metaRecon    = []byte("recon")  // since version 3: how far complete runs have come; missing before the first
)

// events: number -> event without its body. Append-only.
var (
	// provider label, message key; only the first event with it
	eventByMessage = &unique[credit.Event]{"event by message key", func(e credit.Event) []byte {
		if e.Variant != "" {
			return nil
		}
		return messageKey(e.Provider, e.MessageKey)
	}}
	// provider label, message key, digest; only events that differ from the first one with their message key
	eventVariant = &unique[credit.Event]{"event variant", func(e credit.Event) []byte {
		if e.Variant == "" {
			return nil
		}
		return variantKey(e.Provider, e.MessageKey, e.Variant)
	}}
	// provider kind, merchant account, payment; refunds and disputes
	eventReversal = &ordered[credit.Event]{bucket: "event reversal by payment", key: func(e credit.Event) []byte {
		if e.Facts.Effect != credit.EffectRefund && e.Facts.Effect != credit.EffectDispute {
			return nil
		}
		return paymentKey(e.Kind, e.Account, e.Facts.Payment)
	}}
	events = &table[credit.Event]{
		bucket: "events", numbered: true,
		key:     func(e credit.Event) []byte { return idKey(uint64(e.ID)) },
		unique:  []*unique[credit.Event]{eventByMessage, eventVariant},
		ordered: []*ordered[credit.Event]{eventReversal, eventByBank},
		count:   func(credit.Event) string { return "all" },
	}
)

// credits: number -> row.
var (
	// provider kind, merchant account, payment, part, kind of row. The first three are a prefix: this rule also
	// lists the rows of a payment, which saves one more bucket with random keys.
	creditByUnit = &unique[credit.Credit]{"credit by unit", func(c credit.Credit) []byte {
		return key(paymentKey(c.Unit.ProviderKind, c.Unit.Account, c.Unit.Payment)).text(c.Unit.Part).text(string(c.Kind))
	}}
	// reference; joined rows
	creditByReference = &unique[credit.Credit]{"credit by reference", func(c credit.Credit) []byte {
		if c.Reference == "" {
			return nil
		}
		return []byte(c.Reference)
	}}
	// MT5 server's own name, ticket: one deal never settles two rows
	creditByDeal = &unique[credit.Credit]{"credit by deal", func(c credit.Credit) []byte {
		if c.Ticket == 0 {
			return nil
		}
		return dealKey(c.Identity, c.Ticket)
	}}
	// deposit code, payment time: held rows that wait for the deposit
	creditWaiting = &ordered[credit.Credit]{bucket: "credit waiting by code", key: func(c credit.Credit) []byte {
		if c.State != credit.Held || c.Joined() || c.Code == "" {
			return nil
		}
		return key(nil).text(c.Code).moment(c.PaidAt)
	}}
	// state, MT5 server label, time of the next turn; beside it the login
	creditWork = &ordered[credit.Credit]{
		bucket: "credit work by time",
		key: func(c credit.Credit) []byte {
			if c.NextAt.IsZero() {
				return nil
			}
			return key(workKey(c.State, c.Server)).moment(c.NextAt)
		},
		value: func(c credit.Credit) []byte { return binary.BigEndian.AppendUint64(nil, c.Login) },
	}
	// MT5 server's own name, login: claimed and unknown rows
	creditOpen = &ordered[credit.Credit]{bucket: "credit open by login", key: func(c credit.Credit) []byte {
		if !c.State.Open() || c.Login == 0 {
			return nil
		}
		return loginKey(c.Identity, c.Login)
	}}
	// MT5 server label, login: pending, claimed and unknown rows
	creditLive = &ordered[credit.Credit]{bucket: "credit live by login", key: func(c credit.Credit) []byte {
		if c.State != credit.Pending && !c.State.Open() {
			return nil
		}
		return loginKey(c.Server, c.Login)
	}}
	// deposit code: rows that joined a deposit which another row had taken. Few have an entry, so that the rows of a
	// client or a login are found through its deposits, without an index that every payment would have to write.
	creditFurther = &ordered[credit.Credit]{bucket: "credit further by deposit", key: func(c credit.Credit) []byte {
		if !c.Further {
			return nil
		}
		return key(nil).text(c.Deposit)
	}}
	creditByState = &ordered[credit.Credit]{bucket: "credit by state", key: func(c credit.Credit) []byte {
		return stateKey(c.State)
	}}
	// MT5 server label, login, UTC day of becoming pending: rows that count in the day's limit
	creditDay = &ordered[credit.Credit]{bucket: "credit by login and day", key: func(c credit.Credit) []byte {
		if c.PendingAt.IsZero() || (c.State != credit.Pending && c.State != credit.Done && !c.State.Open()) {
			return nil
		}
		return dayKey(c.Server, c.Login, c.PendingAt)
	}}
	credits = &table[credit.Credit]{
		bucket: "credits", numbered: true,
		key:     func(c credit.Credit) []byte { return idKey(uint64(c.ID)) },
		unique:  []*unique[credit.Credit]{creditByUnit, creditByReference, creditByDeal},
		ordered: []*ordered[credit.Credit]{creditWaiting, creditWork, creditOpen, creditLive, creditFurther, creditByState, creditDay},
		count:   func(c credit.Credit) string { return string(c.State) },
	}
)

// history: row number, sequence -> entry. Append-only: nothing is ever staged over an entry.
var history = &table[credit.Entry]{
	bucket: "history",
	key:    func(e credit.Entry) []byte { return historyKey(uint64(e.Credit), e.Seq) },
	unkey: func(k []byte, e *credit.Entry) {
		if len(k) >= 8 {
			e.Credit = credit.ID(binary.BigEndian.Uint64(k))
		}
	},
}

// numberedDeposit is a deposit with the store's own number, which keeps its bucket in the order of making: codes
// are random.
type numberedDeposit struct {
	Number  uint64         `json:"number"`
	Deposit credit.Deposit `json:"deposit"`
}

// deposits: number -> deposit.
var (
	depositByCode = &unique[numberedDeposit]{"deposit by code", func(d numberedDeposit) []byte { return key(nil).text(d.Deposit.Code) }}
	// client
	depositByClient = &ordered[numberedDeposit]{bucket: "deposit by client", key: func(d numberedDeposit) []byte {
		return key(nil).text(d.Deposit.Client)
	}}
	// MT5 server label, login. Neither this key nor the client's ever changes, so that only the portal's own call
	// writes these two; a payment that takes the deposit does not.
	depositByLogin = &ordered[numberedDeposit]{bucket: "deposit by login", key: func(d numberedDeposit) []byte {
		return loginKey(d.Deposit.Server, d.Deposit.Login)
	}}
	deposits = &table[numberedDeposit]{
		bucket: "deposits", numbered: true,
		key:     func(d numberedDeposit) []byte { return idKey(d.Number) },
		unique:  []*unique[numberedDeposit]{depositByCode},
		ordered: []*ordered[numberedDeposit]{depositByClient, depositByLogin},
	}
)

// accounts: MT5 server label, login -> account.
var (
	accountKey = func(a credit.Account) []byte { return loginKey(a.Server, a.Login) }
	// client; beside it the account's key
	accountByClient = &ordered[credit.Account]{
		bucket: "account by client",
		key:    func(a credit.Account) []byte { return key(nil).text(a.Client) },
		value:  accountKey,
	}
	accounts = &table[credit.Account]{
		bucket:  "accounts",
		key:     accountKey,
		ordered: []*ordered[credit.Account]{accountByClient},
	}
)

// tasks: number -> task.
var (
	// entity, kind; open tasks. The entity is a prefix: this rule also lists the open tasks about something.
	taskOpen = &unique[credit.Task]{"task open by entity and kind", func(t credit.Task) []byte {
		if !t.IsOpen() {
			return nil
		}
		return taskKey(t.Key())
	}}
	// open tasks by number
	taskOpenList = &ordered[credit.Task]{bucket: "task open", key: func(t credit.Task) []byte {
		if !t.IsOpen() {
			return nil
		}
		return []byte{}
	}}
	// MT5 server's own name, login: open tasks that stop claims on it
	taskStops = &ordered[credit.Task]{bucket: "task stopping a login", key: func(t credit.Task) []byte {
		if !t.IsOpen() || t.Login == 0 {
			return nil
		}
		return loginKey(t.Identity, t.Login)
	}}
	tasks = &table[credit.Task]{
		bucket: "tasks", numbered: true,
		key:     func(t credit.Task) []byte { return idKey(uint64(t.ID)) },
		unique:  []*unique[credit.Task]{taskOpen},
		ordered: []*ordered[credit.Task]{taskOpenList, taskStops},
		count: func(t credit.Task) string {
			if t.IsOpen() {
				return "open"
			}
			return ""
		},
	}
)

// keptAnswer is an API answer under its idempotency key.
type keptAnswer struct {
	Number   uint64        `json:"number"`
	Route    string        `json:"route"`
	Owner    string        `json:"owner"`
	Key      string        `json:"key"`
	Hash     []byte        `json:"hash"` // of the input
	Answer   credit.Answer `json:"answer"`
	StoredAt time.Time     `json:"stored_at"`
}

// answers: number -> answer. The only records that are ever removed.
var (
	answerByKey = &unique[keptAnswer]{"answer by idempotency key", func(a keptAnswer) []byte {
		return answerKey(credit.IdempotencyKey{Route: a.Route, Owner: a.Owner, Key: a.Key})
	}}
	answerByTime = &ordered[keptAnswer]{bucket: "answer by time", key: func(a keptAnswer) []byte {
		return key(nil).moment(a.StoredAt)
	}}
	answers = &table[keptAnswer]{
		bucket: "answers", numbered: true,
		key:     func(a keptAnswer) []byte { return idKey(a.Number) },
		unique:  []*unique[keptAnswer]{answerByKey},
		ordered: []*ordered[keptAnswer]{answerByTime},
	}
)

// loginAnchor is the newest deal known on a login of an MT5 server.
type loginAnchor struct {
	Identity string        `json:"identity"`
	Login    uint64        `json:"login,string"`
	Anchor   credit.Anchor `json:"anchor"`
}

// anchors: MT5 server's own name, login -> newest known deal.
var anchors = &table[loginAnchor]{
	bucket: "anchors",
	key:    func(a loginAnchor) []byte { return loginKey(a.Identity, a.Login) },
}

// bucketNames lists every bucket of the schema.
func bucketNames() []string {
	names := []string{bucketMeta, bucketBodies, bucketCounters}
	for _, t := range []interface{ buckets() []string }{events, credits, history, deposits, accounts, tasks, answers, anchors, people, proposals, records, apiKeys, outbox, channels} {
		names = append(names, t.buckets()...)
	}
	return append(names, reconBuckets()...)
}

func messageKey(provider, message string) []byte { return key(nil).text(provider).text(message) }

func variantKey(provider, message, digest string) []byte {
	return key(nil).text(provider).text(message).text(digest)
}

func paymentKey(kind, account, payment string) []byte {
	return key(nil).text(kind).text(account).text(payment)
}

func dealKey(identity string, ticket uint64) []byte { return key(nil).text(identity).number(ticket) }

// loginKey serves labels and own names of MT5 servers alike; the bucket says which of them it takes.
func loginKey(server string, login uint64) []byte { return key(nil).text(server).number(login) }

func dayKey(server string, login uint64, at time.Time) []byte {
	return key(loginKey(server, login)).day(at)
}

func workKey(state credit.State, server string) []byte {
	return key(nil).text(string(state)).text(server)
}

func stateKey(state credit.State) []byte { return key(nil).text(string(state)) }

func taskKey(k credit.TaskKey) []byte { return key(nil).text(k.Entity).text(string(k.Kind)) }

func answerKey(k credit.IdempotencyKey) []byte {
	return key(nil).text(k.Route).text(k.Owner).text(k.Key)
}

package desk_test

import (
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// subject makes something fresh that the act is allowed on, and returns the act about it.
func (f *firm) subject(kind desk.Kind) desk.Act {
	f.t.Helper()
	n := f.name()
	switch kind {
	case desk.Resolve:
		return on(kind, f.unknown(false))
	case desk.RetryUnknown:
		return on(kind, f.unknown(true))
	case desk.RetryFailed:
		return on(kind, f.failed())
	case desk.HoldCredit:
		return on(kind, f.fresh().ID)
	case desk.Adopt:
		id := f.held()
		return on(kind, id, "ticket", f.deal(id, string(f.Row(id).Reference)))
	case desk.NotThisDeal:
		id := f.held()
		return on(kind, id, "ticket", f.deal(id, "bonus"))
	case desk.CloseCredit, desk.Release:
		return on(kind, f.held())
	case desk.NoteTask:
		return f.task(kind, "text", "seen")
	case desk.AssignTask:
		return f.task(kind, "person", "oscar")
	case desk.CloseTask:
		return f.task(kind)
	case desk.Replay:
		r := f.Accept(f.Event(storetest.Paid("pay-"+n, "", "", 500)))
		return desk.Act{Kind: kind, Subject: "event/" + strconv.FormatUint(uint64(r.Event), 10)}
	case desk.ManualPay:
		f.Register(login, "client-1")
		return desk.Act{Kind: kind, Subject: "deposit/manual", Params: map[string]string{
			"client": "client-1", "server": storetest.Server, "login": "1001", "amount": "250.00", "currency": storetest.Currency,
			"bank_reference": "wire " + n, "received_at": f.Clock.Now().Format(time.RFC3339),
		}}
	case desk.HoldMode, desk.ReleaseMode, desk.GoLive:
		mode := map[desk.Kind]credit.Mode{desk.HoldMode: credit.ModeLive, desk.ReleaseMode: credit.ModeHold, desk.GoLive: credit.ModeObserve}[kind]
		f.setMode(mode)
		return desk.Act{Kind: kind, Subject: "mode"}
	case desk.TakeOver:
		f.settled(func(s credit.Settings) credit.Settings {
			return credit.PutInDoubt(s, credit.Doubt{At: f.Clock.Now(), Reason: "it is another file", Since: f.Clock.Now()}).Settings
		})
		return desk.Act{Kind: kind, Subject: "mode", Params: map[string]string{"fenced": "password"}}
	case desk.GapChecked:
		f.settled(func(s credit.Settings) credit.Settings {
			s.Pins = []credit.Pin{{Name: "provider/" + storetest.Provider, Value: "psp " + storetest.Merchant}}
			return credit.BeginRestore(s, credit.Restore{Kind: credit.FromBackup, At: f.Clock.Now(), Since: f.Clock.Now()}, "instance-"+n, nil).Settings
		})
		return desk.Act{Kind: kind, Subject: "provider/" + storetest.Provider}
	case desk.DealGone:
		row := f.fresh()
		return f.goneDeal(row.ID)
	case desk.Probe:
		return desk.Act{Kind: kind, Subject: "mt5/" + storetest.Server, Params: map[string]string{"login": "1001"}}
	case desk.AddPerson:
		return desk.Act{Kind: kind, Subject: "person/p" + n, Params: map[string]string{"name": "P" + n, "roles": "viewer"}}
	case desk.ChangePerson:
		f.two("ada", "abe", desk.Act{Kind: desk.AddPerson, Subject: "person/p" + n, Params: map[string]string{"name": "P" + n, "roles": "viewer"}})
		return desk.Act{Kind: kind, Subject: "person/p" + n, Params: map[string]string{"roles": "operator"}}
	case desk.NewKey, desk.RevokeKey:
		number, _ := strconv.Atoi(n)
		made := desk.Act{Kind: desk.NewKey, Subject: "key/k" + n, Params: map[string]string{"sha256": hashOf(byte(number)), "scopes": "deposits:read"}}
		if kind == desk.NewKey {
			return made
		}
		f.two("ada", "abe", made)
		return desk.Act{Kind: kind, Subject: made.Subject}
	case desk.TestAlerts:
		f.Must(f.db.SetChannels(f.t.Context(), []string{"mail"}))
		f.told = f.waiting()
		return desk.Act{Kind: kind, Subject: "alerts"}
	case desk.Bootstrap, desk.CopyStore, desk.ReconRun, desk.ReconImport, desk.ReconSign, desk.ReconWithdraw:
	}
	f.t.Fatalf("no subject for %s", kind)
	return desk.Act{}
}

// fresh is a pending row on a login of its own.
func (f *firm) fresh() credit.Credit {
	f.t.Helper()
	n, _ := strconv.ParseUint(f.name(), 10, 64)
	return f.Pay(login+n, 50000)
}

// held is a row that a person stopped.
func (f *firm) held() credit.ID {
	f.t.Helper()
	id := f.fresh().ID
	f.one("oscar", on(desk.HoldCredit, id))
	return id
}

func (f *firm) failed() credit.ID {
	f.t.Helper()
	f.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeRefused, Code: "10019 no money", Status: 200}
	}
	id := f.fresh().ID
	f.Work(2)
	f.MT5.Answer = nil
	f.InState(id, credit.Failed)
	return id
}

// unknown is a row whose call was lost; with handed, it has been handed to people.
func (f *firm) unknown(handed bool) credit.ID {
	f.t.Helper()
	f.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeUnknown, Answered: handed, Detail: "time-out"}
	}
	id := f.fresh().ID
	f.Work(2)
	f.MT5.Answer = nil
	if handed { // an answered call is never issued again by itself, so its first absence goes to people
		for range 40 {
			if f.Row(id).HandedOver {
				break
			}
			f.Clock.Move(time.Minute)
			f.Work(2)
		}
		if !f.Row(id).HandedOver {
			f.t.Fatal("the row was not handed over")
		}
	}
	f.InState(id, credit.Unknown)
	return id
}

// deal makes a deal by hand over the row's amount and returns its ticket.
func (f *firm) deal(id credit.ID, comment string) string {
	f.t.Helper()
	row := f.Row(id)
	return strconv.FormatUint(f.MT5.ByHand(row.Login, row.DealAmount(), comment).Ticket, 10)
}

func (f *firm) task(kind desk.Kind, params ...string) desk.Act {
	f.t.Helper()
	n := f.name()
	r := f.Accept(f.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: "refunded-" + n, Movement: "re"}))
	a := on(kind, 1, params...)
	a.Subject = "task/" + strconv.FormatUint(uint64(r.Opened[0].ID), 10)
	return a
}

func (f *firm) setMode(m credit.Mode) {
	f.t.Helper()
	f.settled(func(s credit.Settings) credit.Settings { s.Mode = m; return s })
}

// settled changes the settings behind everybody's back.
func (f *firm) settled(to func(credit.Settings) credit.Settings) {
	f.t.Helper()
	_, err := f.db.Settle(f.t.Context(), func(s credit.Settings) (credit.Settings, error) { return to(s), nil })
	f.Must(err)
}

// done tells whether the act has had its effect: the one thing that only the act itself does.
func (f *firm) done(act desk.Act) bool {
	f.t.Helper()
	history := func(move string) bool {
		entries, err := f.db.History(f.t.Context(), act.Credit())
		f.Must(err)
		for _, e := range entries {
			if e.Move == move {
				return true
			}
		}
		return false
	}
	settings, err := f.db.Settings(f.t.Context())
	f.Must(err)
	switch act.Kind {
	case desk.Resolve:
		return history("look asked")
	case desk.RetryFailed:
		return history("retry asked")
	case desk.RetryUnknown:
		return history("further call allowed")
	case desk.HoldCredit:
		return history("held")
	case desk.Adopt:
		return history("deal adopted")
	case desk.CloseCredit:
		return history("closed without a deal")
	case desk.Release:
		return history("released")
	case desk.NotThisDeal:
		return history("not this deal")
	case desk.NoteTask, desk.AssignTask, desk.CloseTask:
		t, err := f.db.Task(f.t.Context(), act.Task())
		f.Must(err)
		return len(t.Notes) > 0 || t.Assigned != "" || !t.IsOpen()
	case desk.HoldMode:
		return settings.Mode == credit.ModeHold
	case desk.ReleaseMode, desk.GoLive:
		return settings.Mode == credit.ModeLive
	case desk.TestAlerts:
		return f.waiting() > f.told
	case desk.TakeOver:
		return settings.Doubt == nil && settings.Restore != nil
	case desk.GapChecked:
		return len(settings.OpenGaps()) == 0
	default:
		return (f.lastDeed() == desk.Did || f.lastDeed() == desk.Confirmed) && f.lastAct().Subject == act.Subject && f.lastAct().Kind == act.Kind
	}
}

// waiting is how many notices wait on the firm's channel.
func (f *firm) waiting() int {
	f.t.Helper()
	states, err := f.db.Channels(f.t.Context())
	f.Must(err)
	if len(states) == 0 {
		return 0
	}
	return states[0].Waiting
}

func (f *firm) last() desk.Record {
	f.t.Helper()
	list, err := f.db.Records(f.t.Context(), 0, 1<<20)
	f.Must(err)
	if len(list) == 0 {
		return desk.Record{}
	}
	return list[len(list)-1]
}

func (f *firm) lastDeed() desk.Deed { return f.last().Deed }
func (f *firm) lastAct() desk.Act   { return f.last().Act }

func TestSubjects_EveryActHasOne(t *testing.T) {
	t.Parallel()
	for _, line := range desk.Table() {
		t.Run(string(line.Kind), func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			act := f.subject(line.Kind)
			if f.done(act) {
				t.Fatal("it is done before anybody did it")
			}
			if line.Two {
				maker, checker := "all", "both"
				f.two(maker, checker, act)
			} else {
				f.one("all", act)
			}
			if !f.done(act) {
				t.Fatal("it was not done")
			}
		})
	}
}

package credit

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// restoredSettings are those of a store that was restored at noon from a backup of an hour before.
func restoredSettings() Settings {
	s := Settings{
		StoreID: "mem", Environment: "live", Mode: ModeLive, CutoverAt: noon.Add(-100 * time.Hour),
		Pins: []Pin{{Name: "mt5/main", Value: testIdentity}, {Name: "provider/stripe", Value: "stripe acct_1"}, {Name: "provider/wallet", Value: "standard w"}},
	}
	return BeginRestore(s, Restore{
		Kind: FromBackup, At: noon, Mark: Mark{Process: "restore x"}, Since: noon.Add(-time.Hour), By: "root", Reason: "drill",
	}, "instance-2", nil).Settings
}

func TestBeginRestore_HoldsOpensEveryGapAndEndsADoubt(t *testing.T) {
	t.Parallel()
	s := PutInDoubt(Settings{Mode: ModeLive, Pins: []Pin{{Name: "provider/stripe", Value: "x"}}}, Doubt{At: noon, Reason: "a copy", Since: noon.Add(-time.Hour)}).Settings
	if s.Mode != ModeHold || s.Doubt == nil {
		t.Fatalf("settings %+v", s)
	}
	change := BeginRestore(s, Restore{Kind: FromBackup, At: noon, Since: noon.Add(-time.Hour), By: "root", Reason: "r"}, "i2", nil)
	got := change.Settings
	if got.Mode != ModeHold || got.Doubt != nil || got.Instance != "i2" || got.Restore.Number != 1 || len(change.Open) != 1 || len(change.Close) != 1 {
		t.Errorf("%+v, restore %+v", got, got.Restore)
	}
	want := []Gap{{Provider: "stripe", From: noon.Add(-49 * time.Hour)}}
	if !slices.Equal(got.OpenGaps(), want) {
		t.Errorf("gaps %+v", got.OpenGaps())
	}
	again := BeginRestore(got, Restore{Kind: FromBackup, At: noon.Add(-time.Hour), By: "root"}, "i3", nil).Settings.Restore
	if again.Number != 2 || !again.At.Equal(noon) {
		t.Errorf("a restore by a clock that was set back: %+v", again)
	}
}

func TestTakeOver_OnlyEndsADoubtAndCountsFromTheFence(t *testing.T) {
	t.Parallel()
	guard := Guard{Process: Process{ID: "p", Started: time.Minute}, Now: Mark{Process: "p", Boot: time.Hour}, Timing: DefaultTiming()}
	_, err := TakeOver(Settings{Mode: ModeHold}, twoPeople, guard, "password", "i2", nil)
	wantCode(t, err, "no_doubt")
	s := PutInDoubt(Settings{Mode: ModeLive, CutoverAt: noon}, Doubt{At: noon, Reason: "a copy", Since: noon.Add(-2 * time.Hour)}).Settings
	_, err = ReleaseMode(s, twoPeople, Guard{Now: Mark{Boot: 100 * time.Hour}})
	wantCode(t, err, "doubt")
	change, err := TakeOver(s, twoPeople, guard, "password", "i2", &Place{Inode: 7})
	if err != nil {
		t.Fatal(err)
	}
	r := change.Settings.Restore
	if r.Kind != FromCopy || r.Fence != "password" || !r.Since.Equal(noon.Add(-2*time.Hour)) || r.Mark.Boot != time.Hour || change.Settings.Place.Inode != 7 {
		t.Errorf("restore %+v", r)
	}
	after := change.Settings.withRestore(func(r *Restore) { r.MovedAt = noon })
	guard.Now.Boot = time.Hour + 10*time.Minute - 1
	_, err = ReleaseMode(after, twoPeople, guard)
	wantCode(t, err, "quarantine")
	guard.Now.Boot++
	if got, err := ReleaseMode(after, twoPeople, guard); err != nil || got.Mode != ModeLive || got.Restore.ReleasedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

// H20: a release is refused until nothing of before can still arrive unseen.
func TestReleaseMode_AfterARestoreWaitsForQuarantineMovesAndGaps(t *testing.T) {
	t.Parallel()
	s := restoredSettings()
	guard := Guard{Process: Process{ID: "p", Started: time.Hour}, Now: Mark{Process: "p", Boot: time.Hour + 9*time.Minute}, Timing: DefaultTiming()}
	step := func(want string) {
		t.Helper()
		_, err := ReleaseMode(s, twoPeople, guard)
		wantCode(t, err, want)
		if want != "" && !Waits(want) {
			t.Errorf("%s does not pass with time", want)
		}
	}
	step("quarantine")
	guard.Now.Boot = time.Hour + 10*time.Minute
	step("moving")
	s, err := RowsMoved(s, 1, noon)
	if err != nil {
		t.Fatal(err)
	}
	step("gap")
	for _, bad := range []GapPull{
		{Provider: "stripe", From: noon.Add(-49*time.Hour + 1), To: noon, At: noon},
		{Provider: "stripe", From: noon.Add(-49 * time.Hour), To: noon.Add(-1), At: noon},
	} {
		if _, err := GapPulled(s, bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("a window that does not cover the gap: %v", err)
		}
	}
	if s, err = GapPulled(s, GapPull{Provider: "stripe", From: noon.Add(-49 * time.Hour), To: noon, At: noon, By: "pull"}); err != nil {
		t.Fatal(err)
	}
	if _, err := GapPulled(s, GapPull{Provider: "stripe"}); !errors.Is(err, ErrConflict) {
		t.Errorf("complete twice: %v", err)
	}
	step("gap")
	_, err = GapChecked(s, onePerson, "nobody")
	wantCode(t, err, "no_gap")
	one := onePerson
	one.At = noon.Add(time.Hour)
	if s, err = GapChecked(s, one, "wallet"); err != nil {
		t.Fatal(err)
	}
	step("")
	before := s
	s, err = ReleaseMode(s, twoPeople, guard)
	if err != nil || s.Mode != ModeLive || s.Restore.ReleasedBy != twoPeople.Actor || len(ModeTasks(before, s, twoPeople)) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	observing := before
	observing.CutoverAt = time.Time{} // the backup was made before go-live
	if got, err := ReleaseMode(observing, twoPeople, guard); err != nil || got.Mode != ModeObserve {
		t.Errorf("a store that never went live is %s, %v", got.Mode, err)
	}
}

func TestMoveRow_Table(t *testing.T) {
	t.Parallel()
	s := restoredSettings()
	for _, state := range append(States(), New) {
		row := readyRow(state, "")
		row.Grants, row.HandedOver = 1, state == Unknown
		if state == Held {
			row.Holds = []Hold{HoldPreCutover}
		}
		dec := MoveRow(Dossier{Row: row, Settings: s}, "a", noon, noon)
		want := map[State]State{Pending: Unknown, Claimed: Unknown, Unknown: Unknown, Held: Held, Failed: Failed}
		to, moves := want[state]
		if (dec.Move != nil) != moves {
			t.Errorf("%q: %+v", state, dec)
			continue
		}
		if !moves {
			continue
		}
		after, _, err := Apply(row, *dec.Move)
		if err != nil || after.State != to || !after.Restored || after.Restore != 1 || after.Grants != 0 || after.HandedOver || after.FirstAbsent != nil {
			t.Errorf("%q: %+v, %v", state, after, err)
		}
		if held := after.HasHold(HoldRestored); held != (state == Held) {
			t.Errorf("%q: holds %v", state, after.Holds)
		}
		if again := MoveRow(Dossier{Row: after, Settings: s}, "a", noon, noon); again.Move != nil {
			t.Errorf("%q is moved twice", state)
		}
		if ok, _ := mayReissue(after); after.State == Unknown && ok {
			t.Errorf("%q may be issued again by itself", state)
		}
	}
}

// The births of design §12, by the payment's time, its deposit and what else speaks against it.
func TestBirths_AfterARestore(t *testing.T) {
	t.Parallel()
	released := restoredSettings().withRestore(func(r *Restore) { r.ReleasedAt = noon.Add(time.Hour) })
	released.Mode = ModeLive
	for name, c := range map[string]struct {
		settings Settings
		paid     time.Time
		deposit  bool
		client   string
		state    State
		holds    []Hold
		restored bool
		task     bool
	}{
		"older, deposit":                          {restoredSettings(), noon.Add(-time.Minute), true, "client-1", Unknown, nil, true, false},
		"older, deposit, long after the release":  {released, noon.Add(-time.Minute), true, "client-1", Unknown, nil, true, false},
		"older, deposit, another owner":           {restoredSettings(), noon.Add(-time.Minute), true, "client-2", Held, []Hold{HoldOwnership, HoldRestored}, true, true},
		"older, no deposit":                       {restoredSettings(), noon.Add(-time.Minute), false, "", Held, []Hold{HoldNoDeposit, HoldRestored}, true, true},
		"older, no deposit, after the release":    {released, noon.Add(-time.Minute), false, "", Held, []Hold{HoldNoDeposit, HoldRestored}, true, true},
		"younger, deposit":                        {restoredSettings(), noon.Add(time.Minute), true, "client-1", Held, []Hold{HoldRestored}, false, false},
		"younger, no deposit":                     {restoredSettings(), noon.Add(time.Minute), false, "", Held, []Hold{HoldNoDeposit, HoldRestored}, false, false},
		"younger, another owner":                  {restoredSettings(), noon.Add(time.Minute), true, "client-2", Held, []Hold{HoldOwnership, HoldRestored}, false, true},
		"younger, deposit, after the release":     {released, noon.Add(time.Minute), true, "client-1", Pending, nil, false, false},
		"at the very moment":                      {restoredSettings(), noon, true, "client-1", Held, []Hold{HoldRestored}, false, false},
		"before the cut-over, and so not unknown": {restoredSettings(), noon.Add(-200 * time.Hour), true, "client-1", Held, []Hold{HoldPreCutover, HoldRestored}, true, false},
	} {
		b := newMemBook()
		b.settings = c.settings
		code := codeOf(1)
		if c.deposit {
			account := Account{Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2}
			if err := b.PutAccount(account, "t", noon); err != nil {
				t.Fatal(err)
			}
			n, rules := wish(noon, code, usd(50000), testLogin)
			if _, err := b.MakeDeposit(n, rules); err != nil {
				t.Fatal(err)
			}
			account.Client = c.client
			if err := b.PutAccount(account, "t", noon); err != nil {
				t.Fatal(err)
			}
		}
		r, err := b.Accept(t.Context(), paidEvent(1, c.paid, code, usd(50000)), IntakeRules{Now: noon.Add(2 * time.Hour), HeldGrace: time.Minute})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		row := r.Rows[0].After
		if row.State != c.state || !slices.Equal(row.Holds, c.holds) || row.Restored != c.restored || (len(r.Opened) > 0) != c.task {
			t.Errorf("%s: %s %v, restored %v, tasks %v; want %s %v, %v, %v", name, row.State, row.Holds, row.Restored, r.Opened, c.state, c.holds, c.restored, c.task)
		}
		if row.State == Unknown && (row.UnknownSince.Process != "restore x" || row.NextAt.IsZero()) {
			t.Errorf("%s: %+v", name, row)
		}
		b.check(t)
	}
}

// A deposit that arrives frees nothing that a restore holds.
func TestRestored_ADepositAloneFreesNothing(t *testing.T) {
	t.Parallel()
	for name, paid := range map[string]time.Time{"older": noon.Add(-time.Minute), "younger": noon.Add(time.Minute)} {
		b := newMemBook()
		b.settings = restoredSettings()
		if _, err := b.Accept(t.Context(), paidEvent(1, paid, codeOf(1), usd(50000)), IntakeRules{Now: noon.Add(time.Hour), HeldGrace: time.Minute}); err != nil {
			t.Fatal(err)
		}
		if err := b.PutAccount(Account{Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2}, "t", noon); err != nil {
			t.Fatal(err)
		}
		n, rules := wish(noon.Add(time.Hour), codeOf(1), usd(50000), testLogin)
		if _, err := b.MakeDeposit(n, rules); err != nil {
			t.Fatal(err)
		}
		if row := b.rows[1]; row.State != Held || !slices.Equal(row.Holds, []Hold{HoldRestored}) || !row.Joined() {
			t.Errorf("%s: %s %v", name, row.State, row.Holds)
		}
		b.check(t)
	}
}

// The keeper moves every row after a takeover in pieces, and goes on after a restart.
func TestKeeper_MovesInPiecesAcrossRestarts(t *testing.T) {
	inWorld(t, func(w *world) {
		const rows = 3*restorePiece/2 + 7
		w.edit(func(b *memBook) {
			for i := range ID(rows) {
				draft := joinedRow(New)
				draft.ID, draft.Unit.Payment, draft.Reference, draft.Deposit = i+1, fmt.Sprint("pi_", i), Reference(fmt.Sprint("r", i)), codeOf(int(i))
				row, entry, err := Apply(Credit{ID: draft.ID}, born(noon, "a", 1, []Hold{HoldByHand}, time.Time{}, func(c *Credit) { *c = draft }))
				if err != nil {
					t.Error(err)
				}
				b.rows[row.ID], b.history[row.ID] = row, []Entry{entry}
			}
			b.settings = BeginRestore(b.settings, Restore{Kind: FromCopy, At: w.clock.Now(), Mark: Mark{Process: w.process.ID, Boot: w.clock.Boot()}}, "i2", nil).Settings
		})
		w.start()
		w.pass(1500 * time.Millisecond)
		marked := func() (n int) {
			w.edit(func(b *memBook) {
				for _, r := range b.rows {
					if r.Restore == 1 && r.Restored && r.HasHold(HoldRestored) && r.HasHold(HoldByHand) {
						n++
					}
				}
			})
			return n
		}
		if n := marked(); n != restorePiece {
			t.Errorf("%d rows in the first round", n)
		}
		w.stop()
		w.newProcess()
		w.start()
		w.pass(4 * time.Second)
		if n := marked(); n != rows {
			t.Errorf("%d rows of %d", n, rows)
		}
		var s Settings
		w.edit(func(b *memBook) { s = b.settings })
		if s.Restore.MovedAt.IsZero() || w.see.noted("rows moved for the restore") != 1 {
			t.Errorf("restore %+v", s.Restore)
		}
	})
}

func TestFreeRow_RepeatsTheBirthChecksAndClearsOnlyItsOwnReason(t *testing.T) {
	t.Parallel()
	released := restoredSettings().withRestore(func(r *Restore) {
		r.ReleasedAt, r.ReleasedBy, r.Proposal = noon, "anna, confirmed by ben", 9
	})
	for name, c := range map[string]struct {
		change func(f *Freeing)
		state  State
		holds  []Hold
	}{
		"nothing else":           {func(*Freeing) {}, Pending, nil},
		"another reason":         {func(f *Freeing) { f.Row.Holds = []Hold{HoldByHand, HoldRestored} }, Held, []Hold{HoldByHand}},
		"another owner by now":   {func(f *Freeing) { f.Account.Client = "client-2" }, Held, []Hold{HoldOwnership}},
		"refunded by now":        {func(f *Freeing) { f.Reversed = true }, Held, []Hold{HoldReversal}},
		"over the limit":         {func(f *Freeing) { f.DayTotal = usd(99999999) }, Held, []Hold{HoldLimit}},
		"a second payment of it": {func(f *Freeing) { f.Further = []ID{9} }, Held, []Hold{HoldSecondPart}},
		"older than the restore": {func(f *Freeing) { f.Row.Restored = true }, Held, []Hold{HoldRestored}},
		"released to observe":    {func(f *Freeing) { f.Settings.CutoverAt, f.Settings.Mode = time.Time{}, ModeObserve }, Held, []Hold{HoldPreCutover}},
		"no deposit": {func(f *Freeing) {
			f.Row.Deposit, f.Deposit = "", nil
			f.Row.Holds = []Hold{HoldNoDeposit, HoldRestored}
		}, Held, []Hold{HoldNoDeposit}},
		"not held for it at all":  {func(f *Freeing) { f.Row.Holds = []Hold{HoldByHand} }, Held, []Hold{HoldByHand}},
		"expired, as it was born": {func(f *Freeing) { f.Deposit.ExpiresAt = f.Row.PaidAt.Add(-1) }, Held, []Hold{HoldExpired}},
	} {
		row := joinedRow(Held)
		row.Holds, row.Restore = []Hold{HoldRestored}, 1
		d := depositOf(row)
		d.Credit, d.Paid = row.ID, row.Paid
		f := Freeing{Dossier: Dossier{Row: row, Settings: released, Deposit: &d, Account: &Account{
			Server: row.Server, Identity: row.Identity, Login: row.Login, Client: row.Client, Currency: row.Amount.Currency(), Digits: row.Amount.Exponent(),
		}}}
		f.Settings.Mode = ModeLive
		c.change(&f)
		dec, err := FreeRow(f, IntakeRules{Now: noon.Add(time.Hour), DayLimits: map[string]Amount{"USD": usd(100000000)}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		after := f.Row
		if dec.Move != nil {
			var entry Entry
			if after, entry, err = Apply(f.Row, *dec.Move); err != nil || entry.Actor != "anna, confirmed by ben" || entry.Evidence.Proposal != 9 {
				t.Errorf("%s: entry %+v, %v", name, entry, err)
			}
		}
		if after.State != c.state || !slices.Equal(after.Holds, c.holds) {
			t.Errorf("%s: %s %v, want %s %v", name, after.State, after.Holds, c.state, c.holds)
		}
	}
	early := Freeing{Dossier: Dossier{Row: joinedRow(Held), Settings: restoredSettings()}}
	early.Row.Holds = []Hold{HoldRestored}
	if _, err := FreeRow(early, IntakeRules{Now: noon}); !errors.Is(err, ErrConflict) {
		t.Errorf("before the release: %v", err)
	}
}

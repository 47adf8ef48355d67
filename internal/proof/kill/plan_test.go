package kill

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/internal/proof/arena"
	"creditonce/internal/proof/faultproxy"
	"creditonce/mt5/fakemt5"
	"creditonce/recon"
	"creditonce/store"
)

// fault is what a cycle does to the program.
type fault string

const (
	killAnywhere fault = "kill"          // SIGKILL at a random time
	killAt       fault = "kill-boundary" // SIGKILL at the n-th passing of a numbered boundary
	pauseIt      fault = "stop"          // SIGSTOP at a random time, and CONT 1 to 5 s later
	pauseAt      fault = "stop-boundary" // the same at the n-th passing of a boundary of the call
	starve       fault = "no-file-grows" // every write to a file fails
	fillDisk     fault = "disk-full"     // on a small file system of its own

	// SIGKILL at a numbered boundary of what people do, who then do it again.
	backupAt  fault = "kill-backup"
	importAt  fault = "kill-import"    // of a statement
	runAt     fault = "kill-run"       // of the reconciliation
	approveAt fault = "kill-approval"  // of a bank wire, which takes two people
	migrateAt fault = "kill-migration" // of a store of the schema before

	// Those with which a round ends: another store takes part from then on.
	olderFile      fault = "older-file-by-hand" // an older store file is put back while nothing runs
	restored       fault = "restore"            // a backup is put back by the command
	secondInstance fault = "second-instance"    // runs on a copy of the store, beside the first
)

func finales() []fault { return []fault{olderFile, restored, secondInstance} }

// boundaries are the numbered step boundaries of the deposit path, those of the way of a row first and last alike
// (protocol-holes.md §3.4). Those from B16 on belong to what people do: see peoples.
func boundaries() []string {
	return []string{
		credit.StepBodyRead, credit.StepVerified, credit.StepEventCommitted, credit.StepAcknowledged, credit.StepSlotHeld,
		credit.StepClaimed, credit.StepPartlyWritten, credit.StepWritten, credit.StepAnswered, credit.StepChecked,
		credit.StepDone, credit.StepUnknown, credit.StepLookPage, credit.StepLooked, credit.StepVerdict,
	}
}

// peoples are the faults that kill the program in what people do, with the boundaries of each.
func peoples() []fault { return []fault{backupAt, importAt, runAt, approveAt, migrateAt, restored} }

func boundariesOf(f fault) []string {
	switch f {
	case backupAt:
		return []string{store.StepBackedUp, store.StepSealed, store.StepNamed}
	case importAt:
		return []string{recon.StepLinesStored, recon.StepStatementSeen}
	case runAt:
		return []string{recon.StepFindingsSaved, recon.StepTasksCarried, recon.StepRunFinished}
	case approveAt:
		return []string{desk.StepProposed, desk.StepApproved}
	case migrateAt:
		return []string{store.StepOldKept, store.StepRaised, store.StepMigrated}
	case restored:
		return []string{store.StepMarked, store.StepWarned, store.StepKept, store.StepReplaced, store.StepRestored}
	default:
		return nil
	}
}

// aroundTheCall are the boundaries between which time that passes unseen is most dangerous.
func aroundTheCall() []string {
	return []string{
		credit.StepLooked, credit.StepSlotHeld, credit.StepClaimed, credit.StepPartlyWritten, credit.StepWritten, credit.StepAnswered, credit.StepChecked,
	}
}

// cycle is one life of the program.
type cycle struct {
	number int
	fault  fault
	at     string        // boundary of killAt and pauseAt
	nth    int           // passing of it
	load   time.Duration // before the fault
	other  bool          // the other way to do it, where there are two
	pause  time.Duration // of pauseIt and pauseAt
	line   faultproxy.Fault
	mt5    []fakemt5.Rule
}

func (c cycle) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cycle %d: %s after %s", c.number, c.fault, c.load)
	if c.at != "" {
		fmt.Fprintf(&b, " at %s, passing %d", c.at, c.nth)
	}
	if c.pause > 0 {
		fmt.Fprintf(&b, " for %s", c.pause)
	}
	if c.line.Kind != faultproxy.Forward {
		fmt.Fprintf(&b, "; line: %s, each %d, %s", c.line.Kind, c.line.Every, c.line.Delay)
	}
	for _, r := range c.mt5 {
		fmt.Fprintf(&b, "; MT5: %s", r.Kind)
	}
	return b.String()
}

// round is a world of its own: some cycles, then everything settles and the journals are compared.
type round struct {
	number int
	seed   uint64
	cycles []cycle
}

// has tells that a cycle of the round needs this fault.
func (r round) has(f fault) bool {
	return slices.ContainsFunc(r.cycles, func(c cycle) bool { return c.fault == f })
}

const (
	perRound = 5
	// block is how many cycles it takes until every kind of fault has had its turn.
	block = 25
)

// plan deals out the faults of n cycles. It depends on nothing but its arguments.
func plan(seed uint64, n int) []round {
	rng := rand.New(rand.NewPCG(seed, 0x6b696c6c))
	names, lines := boundaries(), faultproxy.Kinds()
	nextName, nextLine, nextMT5, nextStop := rng.IntN(len(names)), rng.IntN(len(lines)), 0, rng.IntN(100)
	nextOf, kills := map[fault]int{}, 0
	for _, f := range peoples() {
		nextOf[f] = rng.IntN(len(boundariesOf(f)))
	}
	var rounds []round
	for number := 1; number <= n; {
		for _, kinds := range deck(rng) {
			r := round{number: len(rounds) + 1, seed: rng.Uint64()}
			for _, kind := range kinds {
				if number > n {
					break
				}
				calm := kind == runAt // that cannot read MT5's list opens no tasks
				c := cycle{number: number, fault: kind, load: between(rng, 200, 1500), other: rng.IntN(2) > 0}
				if c.fault == killAt {
					c.at, nextName = names[nextName], (nextName+1)%len(names)
					c.nth = 1 + rng.IntN(often(c.at))
					if kills++; kills/len(names)%2 == 1 { // each second time nothing else is in the way, and the boundary is reached
						calm, c.nth = true, min(c.nth, 3)
					}
				}
				if c.fault == pauseAt {
					c.at, c.nth = aroundTheCall()[nextStop%len(aroundTheCall())], 1+rng.IntN(4)
					nextStop++
				}
				if at := boundariesOf(c.fault); at != nil {
					c.at, c.nth = at[nextOf[c.fault]%len(at)], 1
					nextOf[c.fault]++
				}
				if c.at == recon.StepLinesStored {
					c.nth = 1 + rng.IntN(linesOfImport/400)
				}
				if c.fault == pauseIt || c.fault == pauseAt {
					c.pause = between(rng, 1000, 5000)
				}
				if !calm && (rng.IntN(3) > 0 || number%3 == 0) {
					c.line, nextLine = lineFault(rng, lines[nextLine]), (nextLine+1)%len(lines)
				}
				if !calm && rng.IntN(3) > 0 {
					c.mt5, nextMT5 = []fakemt5.Rule{mt5Fault(rng, nextMT5)}, nextMT5+1
				}
				if c.at == credit.StepUnknown || c.at == credit.StepVerdict { // needs an answer that is lost
					c.mt5 = []fakemt5.Rule{{Where: balanceCall, Kind: fakemt5.ApplyThenDrop, Count: 4 + c.nth}}
				}
				r.cycles, number = append(r.cycles, c), number+1
			}
			if len(r.cycles) > 0 {
				rounds = append(rounds, r)
			}
		}
	}
	return rounds
}

// deck is one block of faults, shuffled and dealt into rounds. A fault after which another store takes part comes last.
func deck(rng *rand.Rand) [][]fault {
	one := []fault{killAnywhere, killAnywhere, pauseIt, pauseAt, pauseAt, starve, fillDisk, backupAt, importAt, runAt, approveAt, migrateAt}
	for len(one) < block-len(finales()) {
		one = append(one, killAt)
	}
	rng.Shuffle(len(one), func(i, j int) { one[i], one[j] = one[j], one[i] })
	last := append(finales(), make([]fault, block/perRound-len(finales()))...)
	rng.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
	var out [][]fault
	for _, end := range last {
		n := perRound
		if end != "" {
			n--
		}
		kinds := append([]fault(nil), one[:n]...)
		// The schema before knew nothing of statements: it comes before them.
		slices.SortStableFunc(kinds, func(a, b fault) int { return cmp.Compare(rank(a), rank(b)) })
		if one = one[n:]; end != "" {
			kinds = append(kinds, end)
		}
		out = append(out, kinds)
	}
	return out
}

func rank(f fault) int {
	if f == migrateAt {
		return 0
	}
	return 1
}

// often is within how many passings of a boundary a kill is drawn: not more than a short load surely makes.
func often(boundary string) int {
	switch boundary {
	case credit.StepUnknown, credit.StepVerdict:
		return 3
	case credit.StepLookPage, credit.StepLooked, credit.StepBodyRead, credit.StepVerified, credit.StepEventCommitted, credit.StepAcknowledged:
		return 40
	default:
		return 10
	}
}

const balanceCall = "trade/balance"

// timing leaves room for what the line and MT5 do late.
var timing = arena.Patient()

// lateExecution is how long MT5 may sit on a call.
var lateExecution = timing.CallTimeout + 700*time.Millisecond

// mt5Faults are what goes wrong at MT5 itself, a few times in a cycle. All of them end well within the quarantine.
var mt5Faults = []fakemt5.Rule{
	{Kind: fakemt5.ApplyThenDrop}, {Kind: fakemt5.NeverExecute}, {Kind: fakemt5.HoldThenExecute, Delay: fakemt5.Duration(lateExecution)},
	{Kind: fakemt5.CutBody}, {Kind: fakemt5.EmptyBody}, {Kind: fakemt5.ApplyThenDelay, Delay: fakemt5.Duration(3 * timing.CallTimeout)},
	{Kind: fakemt5.VisibleAfter, Delay: fakemt5.Duration(time.Second)}, {Kind: fakemt5.DropBefore}, {Kind: fakemt5.SessionLost},
	{Kind: fakemt5.NoTicket}, {Kind: fakemt5.Desync}, {Kind: fakemt5.DuplicateReply},
}

func mt5Fault(rng *rand.Rand, turn int) fakemt5.Rule {
	r := mt5Faults[turn%len(mt5Faults)]
	r.Where, r.Skip, r.Count = balanceCall, rng.IntN(4), 1+rng.IntN(3)
	return r
}

func lineFault(rng *rand.Rand, k faultproxy.Kind) faultproxy.Fault {
	f := faultproxy.Fault{Kind: k, Every: 4 + rng.IntN(12)}
	switch k {
	case faultproxy.Latency:
		f.Every, f.Delay = 0, between(rng, 5, 60)
	case faultproxy.HoldAndRelease:
		f.Delay = timing.CallTimeout + between(rng, 50, 500)
	case faultproxy.Slicer:
		f.Every = 0
	case faultproxy.HalfOpen:
		f.Every += 8 // each costs a whole time-out
	case faultproxy.Forward, faultproxy.ResetAfterRequest:
	}
	return f
}

func between(rng *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+rng.IntN(high-low+1)) * time.Millisecond
}

func TestPlan_IsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	one, two, other := fmt.Sprint(plan(7, 60)), fmt.Sprint(plan(7, 60)), fmt.Sprint(plan(8, 60))
	if one != two || one == other {
		t.Error("a seed is no plan")
	}
}

func TestPlan_HasEveryFaultWithinOneBlockEveryBoundaryWithinTwoAndThoseOfPeopleWithinFive(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		kinds, lines, names, number := map[fault]int{}, map[faultproxy.Kind]int{}, map[string]int{}, 0
		for _, r := range plan(seed, 5*block) {
			for _, c := range r.cycles {
				if number++; c.number != number {
					t.Fatalf("seed %d: cycle %d has number %d", seed, number, c.number)
				}
				if number <= block {
					kinds[c.fault]++
					lines[c.line.Kind]++
				}
				if c.fault != killAt || number <= 2*block {
					names[c.at]++
				}
			}
		}
		all := 1 + len(boundaries()) // and none
		for _, f := range peoples() {
			all += len(boundariesOf(f))
		}
		if len(kinds) != 11+len(finales()) || len(lines) < len(faultproxy.Kinds()) || len(names) != all {
			t.Errorf("seed %d: faults %v, lines %v, boundaries %v", seed, kinds, lines, names)
		}
	}
}

// A fault that MT5 or the line may still work on when the quarantine is over would break what the service is told it may
// rely on (design §7), and prove nothing.
func TestPlan_NoFaultOutlastsTheQuarantine(t *testing.T) {
	t.Parallel()
	for _, r := range plan(3, 20*block) {
		for _, c := range r.cycles {
			if late := c.line.Delay; late > timing.Quarantine/2 {
				t.Errorf("%s", c)
			}
			for _, rule := range c.mt5 {
				if rule.Kind == fakemt5.HoldThenExecute && time.Duration(rule.Delay) > timing.CallTimeout+timing.Quarantine/2 {
					t.Errorf("%s", c)
				}
			}
		}
	}
}

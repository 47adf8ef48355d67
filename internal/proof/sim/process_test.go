package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/internal/invariant"
	"creditonce/store"
)

const (
	serverLabel = "main"
	identity    = "ExampleBroker-Live"
	laneCount   = 2
	dealer      = 77
	// floors of free bytes; a disk is roomy, low or full
	claimFloor, intakeFloor = 64 << 20, 32 << 20
	roomy                   = 1 << 30
)

// process is one life of the service on a machine and a store file.
type process struct {
	sim    *sim
	id     string
	host   *machine
	file   *file
	db     *store.DB
	book   *book
	info   credit.Process
	ctx    context.Context
	cancel context.CancelFunc
	live   *credit.LiveCalls
	wakes  []chan struct{}
	desk   *desk.Service
	label  string // of the provider, in the configuration of this life

	claimsFrom time.Duration // on the boot clock
	paused     time.Duration // world time until which no code of it runs
	up         bool          // it listens
	ended      bool
	stopped    bool // its store met a commit error
	actors     int
}

func (p *process) clock() clock { return clock{p} }

func (p *process) boot() time.Duration { return p.host.boot(p.sim.now) }

func (p *process) mark() credit.Mark {
	return credit.Mark{Process: p.id, Boot: p.boot(), At: p.clock().Now()}
}

func (p *process) guard() *store.Guard {
	if p.sim.options.blind {
		return nil
	}
	now := p.clock().Now()
	return &store.Guard{Witness: p.sim.witness, Machine: p.host.name, Booted: now.Add(-p.boot()), Now: now}
}

// start begins a new life on the file.
func (s *sim) start(host *machine, f *file) *process {
	s.lives++
	p := &process{sim: s, id: "p" + strconv.Itoa(s.lives), host: host, file: f, live: &credit.LiveCalls{}, label: s.label}
	db, err := store.Open(f.path, store.Options{
		UnsafeNoSync: true, StopClaimsBelow: claimFloor, RefuseIntakeBelow: intakeFloor,
		Free:  func(string) (uint64, error) { return s.free, nil },
		Guard: p.guard(),
	})
	if err != nil {
		s.fail("start: %v", err)
		return p
	}
	p.db, p.book = db, &book{DB: db, p: p}
	if f == s.files[0] {
		s.world().Processes = append(s.world().Processes, invariant.Process{ID: p.id, Started: p.boot()})
	}
	p.info = credit.Process{ID: p.id, Started: p.boot(), At: p.clock().Now()}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for range laneCount {
		p.wakes = append(p.wakes, make(chan struct{}, 1))
	}
	if p.desk, err = s.newDesk(p); err != nil {
		s.fail("desk: %v", err)
	}
	s.processes = append(s.processes, p)
	s.note("%s starts on %s, provider %s, boot %v", p.id, f.name, p.label, p.boot())
	s.standing(p)
	s.spawn(p, "main", p.main)
	return p
}

// main is what the service does at its start: sweep, then loops and listeners.
func (p *process) main() {
	s := p.sim
	keeper := &credit.Keeper{
		Book: p.book, Clock: p.clock(), Observer: observer{p}, Process: p.info, Timing: s.timing, Servers: []string{serverLabel},
		Rules: p.rules().IntakeRules, Wake: p.wake,
	}
	for { // a start that meets a busy store is tried again by the service manager
		err := keeper.Start(p.ctx)
		if err == nil {
			break
		}
		if p.stopped || p.ctx.Err() != nil {
			return
		}
		if !errors.Is(err, credit.ErrBusy) {
			s.fail("keeper start: %v", err)
			return
		}
		s.sleep(time.Second, "start again")
	}
	for i := range laneCount {
		lane := &credit.Lane{
			Server: serverLabel, Shard: i, Shards: laneCount, Book: p.book, Session: &session{p: p, name: "lane" + strconv.Itoa(i), money: true},
			Clock: p.clock(), Observer: observer{p}, Process: p.info, Timing: s.timing, Live: p.live, Wake: p.wakes[i],
			Token: s.token, ClaimsFrom: p.claimsFrom, Dealer: dealer, DealerMeasured: true,
		}
		s.spawn(p, "lane"+strconv.Itoa(i), func() { p.loop("lane", lane.Run(p.ctx)) })
	}
	if s.pulls {
		s.spawn(p, "pull", func() { p.loop("pull", p.puller().Run(p.ctx)) })
	}
	p.up = true
	p.loop("keeper", keeper.Run(p.ctx))
}

// loop judges the end of a loop: only a stop or the end of the store may end one.
func (p *process) loop(name string, err error) {
	switch {
	case err == nil && p.ctx.Err() != nil:
	case err != nil && errors.Is(err, credit.ErrStopped) && p.stopped:
		p.sim.count(loopEndedByStore)
	default:
		p.sim.fail("%s of %s ended with: %v", name, p.id, err)
	}
}

func (s *sim) token() string { s.tokens++; return "token-" + strconv.Itoa(s.tokens) }

func (p *process) reception() *credit.Reception {
	return &credit.Reception{
		Book: p.book, Clock: p.clock(), Observer: observer{p}, Process: p.info, HeldGrace: p.sim.timing.HeldGrace,
		DayLimits: p.sim.dayLimits, Servers: []string{serverLabel}, Wake: p.wake,
	}
}

func (p *process) wake(string) {
	for _, w := range p.wakes {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// rules are what the configuration of this life says about deposits.
func (p *process) rules() credit.DepositRules {
	return credit.DepositRules{
		IntakeRules: credit.IntakeRules{
			Now: p.clock().Now(), Schedule: p.info.Schedule(p.clock()), HeldGrace: p.sim.timing.HeldGrace, DayLimits: p.sim.dayLimits,
			Servers: []string{serverLabel},
		},
		Identities: map[string]string{serverLabel: identity}, Providers: []string{p.label}, LongestLife: 60 * 24 * time.Hour,
	}
}

type seededReader struct{ r *rand.ChaCha8 }

func (r seededReader) Read(b []byte) (int, error) { return r.r.Read(b) }

func (s *sim) newDesk(p *process) (*desk.Service, error) {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%d %s", s.seed, p.id))
	var place *credit.Place
	if at := p.db.Standing().Place; at.Inode != 0 {
		place = &at
	}
	return desk.New(desk.Config{
		Book: p.book, MT5: questions{&session{p: p, name: "desk"}}, Reader: reader{}, Clock: p.clock(), Process: p.info, Timing: s.timing,
		Live: p.live, Observer: observer{p}, Rules: p.rules(), Rand: seededReader{rand.NewChaCha8(key)}, Wake: p.wake, Place: place,
	})
}

// kill ends a life at once: nothing of it runs on. What has left the machine lives on at MT5.
func (s *sim) kill(p *process, why string) {
	if p.ended {
		return
	}
	s.note("%s is killed: %s", p.id, why)
	for i := 0; i < len(s.parked); {
		if a := s.parked[i]; a.proc == p {
			s.killedAt(a.gate)
			s.release(a, false)
			i = 0 // an ending actor may have parked nobody, but keep no index over a changed list
		} else {
			i++
		}
	}
	s.bury(p)
}

// bury closes what the dead process had open; the file stays.
func (s *sim) bury(p *process) {
	p.ended, p.up = true, false
	for i := range s.world().Processes {
		if x := &s.world().Processes[i]; x.ID == p.id {
			x.Over = true
		}
	}
	if p.actors != 0 {
		s.fail("%s left %d goroutines", p.id, p.actors)
	}
	p.cancel()
	if err := p.db.Close(context.Background()); err != nil {
		s.fail("close the store of %s: %v", p.id, err)
	}
	if s.doomed == p {
		s.doomed = nil
	}
	for i, x := range s.processes {
		if x == p {
			s.processes = append(s.processes[:i:i], s.processes[i+1:]...)
			break
		}
	}
}

// doom has the process killed before anybody runs on.
func (s *sim) doom(p *process, why string) {
	if s.doomed == nil && !p.ended {
		s.doomed, s.doomedBy = p, why
	}
}

// restart plans the next life.
func (s *sim) restart(host *machine, f *file) {
	wait := s.spread(500*time.Millisecond, 5*time.Minute)
	s.after(wait, func() {
		if s.serving() == nil {
			s.start(host, f)
		}
	})
}

// serving is the process that runs on the store, if one does; an instance on a copy is none.
func (s *sim) serving() *process {
	for _, p := range s.processes {
		if !p.ended && p.file == s.files[0] {
			return p
		}
	}
	return nil
}

// observer names boundaries as gates and keeps notes in the trace.
type observer struct{ p *process }

// Step implements credit.Observer.
func (o observer) Step(_ context.Context, st credit.Step) {
	o.p.sim.pass(st.Name)
}

// Note implements credit.Observer.
func (o observer) Note(_ context.Context, n credit.Note) {
	s := o.p.sim
	switch {
	case n.Row != nil && n.Entry != nil:
		s.note("%s credit %d: %s %s->%s: %s", n.What, n.Row.ID, n.Entry.Move, n.Entry.From, n.Entry.To, n.Entry.Reason)
	case n.Task != nil:
		s.note("%s %d %s %s", n.What, n.Task.ID, n.Task.Kind, n.Task.Entity)
	default:
		s.note("%s %v", n.What, n.Err)
	}
}

// silent tells nobody.
type silent struct{}

// Step implements credit.Observer.
func (silent) Step(context.Context, credit.Step) {}

// Note implements credit.Observer.
func (silent) Note(context.Context, credit.Note) {}

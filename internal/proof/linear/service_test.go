package linear

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/api"
	"creditonce/store"
)

// The keys of the portal.
const (
	portalKey = "co_portal"
	ownerKey  = "co_owner"
)

// childEnv makes the test binary the service on the store at this path, until it is killed.
const childEnv = "CREDITONCE_LINEAR_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		s, err := newService(path, nil)
		if err != nil {
			fmt.Println("cannot start:", err)
			os.Exit(1)
		}
		fmt.Println(s.address)
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the process that holds the other side
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// portal is the deposit book of the API over the store, as the service wires it.
type portal struct{ store *store.DB }

var rules = credit.DepositRules{
	Identities: map[string]string{"main": "Broker-Test"}, Providers: []string{"stripe"}, LongestLife: 72 * time.Hour,
	IntakeRules: credit.IntakeRules{HeldGrace: time.Minute},
}

func (p portal) Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error) {
	r := rules
	r.Now = time.Now().UTC()
	receipt, err := p.store.MakeDeposit(ctx, n, r)
	return receipt.Answer, err
}

func (p portal) View(ctx context.Context, code string) (credit.DepositView, error) {
	return p.store.Deposit(ctx, code)
}

func (p portal) Story(ctx context.Context, code string) (credit.DepositStory, error) {
	return p.store.DepositStory(ctx, code)
}

func (p portal) Close(ctx context.Context, code, by string) (credit.DepositView, error) {
	return p.store.CloseDeposit(ctx, code, by, time.Now().UTC())
}

func (p portal) ListDeposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	return p.store.Deposits(ctx, q)
}

func (p portal) ListCredits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error) {
	return p.store.Credits(ctx, q)
}

// register is the register of logins over the store.
type register struct{ store *store.DB }

func (r register) Put(ctx context.Context, a credit.Account, actor string) (credit.Account, bool, error) {
	a.Identity = rules.Identities[a.Server]
	receipt, err := r.store.PutAccount(ctx, a, actor, time.Now().UTC())
	return receipt.Account, receipt.Created, err
}

func (r register) Get(ctx context.Context, server string, login uint64) (credit.Account, error) {
	return r.store.Account(ctx, server, login)
}

func (r register) ListAccounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error) {
	return r.store.Accounts(ctx, q)
}

type deaf struct{}

func (deaf) Served(context.Context, api.Served) {}

// service is the portal's API on a real listener over a real store with fsync.
type service struct {
	address string
	store   *store.DB
	server  *http.Server
	served  chan error
}

// newService opens the store, or makes it. bend may put something between the API and the store.
func newService(path string, bend func(api.Deposits) api.Deposits) (*service, error) {
	now := time.Now().UTC()
	db, err := store.Open(path, store.Options{New: credit.Settings{StoreID: "s", Environment: "test", Mode: credit.ModeLive, CreatedAt: now}})
	if err != nil {
		return nil, err
	}
	var book api.Deposits = portal{db}
	if bend != nil {
		book = bend(book)
	}
	handler, err := api.New(api.Config{
		Deposits: book, Accounts: register{db}, DayLimit: func(string) (credit.Amount, bool) { return credit.Amount{}, false },
		Rate: api.Rate{PerSecond: 1_000_000, Burst: 1_000_000},
		Keys: []api.Key{
			{Name: "portal", SHA256: sha256.Sum256([]byte(portalKey)), Scopes: []string{api.ScopeDepositsRead, api.ScopeDepositsWrite}},
			{Name: "owner", SHA256: sha256.Sum256([]byte(ownerKey)), Scopes: []string{api.ScopeAccountsWrite}},
		},
		PaidExponent: func(_, currency string) (int, bool) { return 2, currency == "USD" },
		DepositLife:  time.Hour, Now: time.Now, Rand: rand.Reader, Observer: deaf{},
	})
	if err != nil {
		return nil, errors.Join(err, db.Close(context.Background()))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, db.Close(context.Background()))
	}
	s := &service{address: l.Addr().String(), store: db, server: api.Server(handler), served: make(chan error, 1)}
	go func() { s.served <- s.server.Serve(l) }()
	return s, nil
}

// stop cuts every connection, and closes the store when what it had begun is done.
func (s *service) stop() error {
	err := s.server.Close()
	if end := <-s.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return errors.Join(err, s.store.Close(context.Background()))
}

// child is the service as a process of its own, which can be killed.
type child struct {
	address string
	cmd     *exec.Cmd
	stdin   io.Closer // the child ends when this process does
}

func startChild(path string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return &child{address: line[:len(line)-1], cmd: cmd, stdin: in}, nil
}

// kill ends the process at once, wherever it is.
func (c *child) kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // says "signal: killed"
	return err
}

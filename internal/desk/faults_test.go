package desk_test

import (
	"errors"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// A store that fails at any call, before or after it has written, leaves an act that was done once or not at all: asked
// again, the desk says which.
func TestConfirm_WhereverTheStoreFailsItIsDoneOnce(t *testing.T) {
	t.Parallel()
	mine := errors.New("no answer of the store")
	for _, kind := range []desk.Kind{desk.Adopt, desk.CloseCredit, desk.ManualPay, desk.GoLive} {
		for _, when := range []storetest.When{storetest.BeforeApplying, storetest.AfterApplying} {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				f := newFirm(t).staff()
				failed := 0
				for n := 1; n <= 14; n++ {
					act := f.subject(kind)
					p := f.propose("mia", act)
					good := f.svc
					f.svc = f.serviceOver("process-1", storetest.FailNth(f.db, n, mine, when))
					f.Clock.Move(11 * time.Minute)
					err := f.insist(p)
					f.svc = good
					if err != nil && !errors.Is(err, mine) {
						t.Fatalf("call %d failed: %v", n, err)
					}
					if err != nil {
						failed++
						var r *credit.RefusedError
						if err = f.insist(p); err != nil && (!errors.As(err, &r) || r.Code != "used") {
							t.Fatalf("after a failure at call %d: %v", n, err)
						}
					}
					if !f.done(act) {
						t.Errorf("a failure at call %d: it was not done", n)
					}
				}
				if failed < 5 {
					t.Errorf("the store failed %d times only", failed)
				}
			})
		}
	}
}

// insist confirms until nothing waits any more.
func (f *firm) insist(p desk.Proposal) error {
	for {
		_, err := f.confirm("carl", p)
		var r *credit.RefusedError
		if !errors.As(err, &r) || !credit.Waits(r.Code) {
			return err
		}
		f.Clock.Move(61 * time.Second)
	}
}

// A store that answers nothing is an error of every verb, never a refusal or a silent success.
func TestService_ABrokenStoreIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	svc := f.serviceOver("process-1", storetest.Broken{Err: credit.ErrStopped})
	ctx, who := t.Context(), by("ada")
	for name, do := range map[string]func() error{
		"submit":    func() error { _, err := svc.Submit(ctx, who, on(desk.Resolve, 1), "r"); return err },
		"confirm":   func() error { _, err := svc.Confirm(ctx, who, 1, "", ""); return err },
		"reject":    func() error { _, err := svc.Reject(ctx, who, 1, "r"); return err },
		"bootstrap": func() error { return svc.Bootstrap(ctx, desk.Actor{User: "root"}, nil, "r") },
		"status":    func() error { _, err := svc.Status(ctx, who); return err },
		"find":      func() error { _, err := svc.Find(ctx, who, "1"); return err },
		"keys":      func() error { _, err := svc.LiveKeys(ctx); return err },
	} {
		if err := do(); !errors.Is(err, credit.ErrStopped) || errors.Is(err, credit.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package credit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A server that an edit took out of the configuration has no lane: without these two checks its payments would wait
// for ever and nobody would know.

func TestProcessStart_OpenRowsOfAServerThatIsGoneGetATaskAndGoOnWhenItIsBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mt5.ready = func() error { return errors.New("down") } // nothing is settled before the restart
		w.start()
		pending := w.paid(testLogin, 1)
		w.pass(time.Second)
		w.stop()
		w.newProcess()
		w.mt5.ready = nil
		gone := &Keeper{Book: w.book, Clock: w.clock, Observer: w.see, Process: w.process, Timing: w.timing, Servers: []string{"another"}}
		if err := gone.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.wantState(pending, Pending)
		w.wantTasks("stuck")
		for _, task := range w.book.tasks {
			if !strings.Contains(task.Summary, testServer) {
				t.Errorf("the task does not name the server: %q", task.Summary)
			}
		}
		w.newProcess()
		w.start()
		w.pass(2 * time.Second)
		w.wantState(pending, Done)
		w.wantTasks("")
	})
}

func TestTakeIn_DepositOnAServerThatIsGoneIsHeldWithATask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers []string
		holds   string
		tasks   string
	}{
		{nil, "", ""}, {[]string{testServer}, "", ""}, {[]string{"another"}, "server", "held"},
	} {
		in := newIntakeCase()
		in.rules.Servers = c.servers
		out := in.takeIn(t)
		if len(out.Rows) != 1 || holdsOf(out.Rows[0].After) != c.holds || kindsOf(out.Open) != c.tasks {
			t.Errorf("servers %v: holds %q, tasks %q, want %q and %q", c.servers, holdsOf(out.Rows[0].After), kindsOf(out.Open), c.holds, c.tasks)
		}
	}
}

package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

// writerEnv makes the test binary a writer that acknowledges on its standard output until it is killed.
const writerEnv = "STORE_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		writeForEver(path)
	}
	if spec := os.Getenv(restoreEnv); spec != "" {
		restoreAndDie(spec)
	}
	if dir := os.Getenv(damageEnv); dir != "" {
		if err := damageUnderService(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeForEver accepts events from several sides and prints the number of each after it was answered.
func writeForEver(path string) {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	w := storetest.NewWorld(&testing.T{}, func(storetest.Setup) storetest.Backend { return db }, storetest.Setup{})
	var wg sync.WaitGroup
	for side := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				payment := fmt.Sprintf("pay-%d-%d-%d", os.Getpid(), side, i)
				e := w.Event(storetest.Paid(payment, "", "", 500))
				e.MessageKey = payment
				r, err := db.Accept(context.Background(), e, credit.IntakeRules{Now: w.Clock.Now()})
				if err != nil {
					fmt.Println("accept:", err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println("acked", r.Event, payment)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// A writer that is killed in the middle of its work leaves every event that it acknowledged, whole.
func TestH22_KilledWriterLeavesAcknowledgedEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := open(t, path, store.Options{New: settings()}).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	acked := map[credit.EventID]string{}
	for round := range 5 {
		killAfter(t, path, 100+round*77, acked)
		db := open(t, path, store.Options{})
		for id, payment := range acked {
			e, err := db.Event(t.Context(), id)
			if err != nil || e.Facts.Payment != payment || len(e.Rows) != 1 {
				t.Errorf("event %d, acknowledged for %s: %+v, %v", id, payment, e, err)
				continue
			}
			if _, err := db.EventBody(t.Context(), id); err != nil {
				t.Errorf("body of event %d: %v", id, err)
			}
			if row, err := db.Credit(t.Context(), e.Rows[0]); err != nil || row.Unit.Payment != payment {
				t.Errorf("row of event %d: %+v, %v", id, row, err)
			}
		}
		if r, err := db.Verify(t.Context(), nil); err != nil || !r.Clean() {
			t.Errorf("after kill %d: %v, %v", round, r.Findings, err)
		}
		if err := db.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter runs a writer, kills it after some acknowledgements and collects all that it gave.
func killAfter(t *testing.T, path string, after int, acked map[credit.EventID]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	n := 0
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 || f[0] != "acked" {
			continue // the last line may be torn
		}
		id, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			t.Errorf("line %q", lines.Text())
		}
		acked[credit.EventID(id)] = f[2]
		if n++; n == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || n < after {
		t.Fatalf("the writer ended by itself (%v) after %d events", err, n)
	}
}

package kill

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"creditonce/internal/proof/arena"
)

// cyclesVariable says how many cycles TestKill makes where no flag does.
const cyclesVariable = "CREDITONCE_KILL_CYCLES"

var (
	seedFlag   = flag.Uint64("seed", 0, "seed of the plan; 0 draws one")
	cyclesFlag = flag.Int("cycles", 0, "how many cycles; 0: what $"+cyclesVariable+" says, else 5")
	plainFlag  = flag.String("program", "", "a program that is built already, instead of one of this source; needs -tagged too")
	taggedFlag = flag.String("tagged", "", "the same, built with the tag faultpoints")
	sideFlag   = flag.Int("side", 3, "how many rounds run side by side: most of a round is waiting")
)

var built struct {
	sync.Once
	arena.Programs
	folder string
	err    error
}

// build makes both programs, once for all tests of this run.
func build(t *testing.T) arena.Programs {
	t.Helper()
	built.Do(func() {
		if built.Plain, built.Tagged = *plainFlag, *taggedFlag; built.Plain != "" && built.Tagged != "" {
			return
		}
		if built.folder, built.err = openFolder("co-kill-bin-"); built.err == nil {
			built.Programs, built.err = arena.Build(filepath.Join("..", "..", ".."), built.folder)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.Programs
}

// openFolder makes a folder for files that people of a world reach under accounts of their own.
func openFolder(prefix string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711) //nolint:gosec // to pass through, not to look into
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if built.folder != "" {
		_ = os.RemoveAll(built.folder)
	}
	os.Exit(code)
}

// seed is the seed of the plan: the flag's, or one that is drawn.
func seed() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	return uint64(time.Now().UnixNano())
}

// cycles is how many cycles to make.
func cycles(t *testing.T) int {
	t.Helper()
	if *cyclesFlag > 0 {
		return *cyclesFlag
	}
	text := os.Getenv(cyclesVariable)
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of cycles", cyclesVariable, text)
	}
	return n
}

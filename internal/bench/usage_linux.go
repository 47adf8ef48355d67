package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of /proc/<pid>/stat on Linux, whatever the kernel's own (proc(5), sysconf(_SC_CLK_TCK)).
const clockTick = time.Second / 100

// processorTime is what the process has used in user and kernel mode.
func processorTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name in parentheses may hold spaces; state is the first field after it, utime and stime the 12th and 13th.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * clockTick, err1 == nil && err2 == nil
}

// anonymousMemory is the process's resident memory that is no file's, in bytes.
func anonymousMemory(pid int) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			fields := bytes.Fields(value)
			if len(fields) == 0 {
				return 0, false
			}
			kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
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

// peakMemory is the most resident memory that this process ever had, in bytes; 0 where it is not known.
func peakMemory() int64 {
	bytes, _ := statusField(os.Getpid(), "VmHWM:")
	return bytes
}

// lowPriority lets every other process go first (nice 10). Linux keeps it for each thread (setpriority(2), "C library/kernel
// differences"), and threads that start later have that of the one that started them. Where it is refused, this process competes.
func lowPriority() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, 10)
		}
	}
}

// anonymousMemory is the process's resident memory that is no file's, in bytes.
func anonymousMemory(pid int) (int64, bool) { return statusField(pid, "RssAnon:") }

// statusField is a size in /proc/<pid>/status (proc(5)), in bytes.
func statusField(pid int, name string) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte(name)); ok {
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

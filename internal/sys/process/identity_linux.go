package process

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// BootID tells the pids of different boots apart; empty where the system has no
// such id.
func BootID() string {
	id, _ := readProc("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// StartTime is when the process started, in ticks since the machine did; "" when
// there is none. A dead one that nobody has waited for holds nothing any more.
func StartTime(pid int) string {
	return startField(readStat(pid))
}

// readStat is the stat line of a process; empty where there is none.
func readStat(pid int) []byte {
	stat, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return stat
}

// statFields are what a stat line has behind the name, which may hold anything: state, parent, group,
// session and so on.
func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// readProc reads a short file of the kernel's in one go. Package os would do five
// times as many calls for it, and ask the kernel to tell when there is more.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 1024) // a stat line has some 300
	n, err := unix.Read(fd, text)
	return text[:max(n, 0)], err
}

// startField takes the time out of a stat line: pid (name) state …, of which it
// is the 22nd field.
func startField(stat []byte) string {
	const state, start = 0, 19 // counted from the name's end
	fields := statFields(stat)
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}

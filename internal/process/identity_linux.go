package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// BootID tells the pids of different boots apart; empty where the system has no
// such id.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// StartTime is when the process started, in ticks since the machine did; "" when
// there is none. A dead one that nobody has waited for holds nothing any more.
func StartTime(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return startField(stat)
}

// startField takes the time out of a stat line: pid (name) state …, of which it
// is the 22nd field. The name may hold anything, so counting starts behind it.
func startField(stat []byte) string {
	const state, start = 0, 19 // counted from the name's end
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}

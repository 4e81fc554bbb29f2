//go:build unix

package world

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// machineVariable is in the environment of every process of a machine: its number.
const machineVariable = "FLEET_MACHINE"

// originOf is the machine of the process at the other end of a connection, as the kernel knows it. All ends of
// loopback connections have the same address, so the socket is looked for in the processes of each machine.
func originOf(c net.Conn, machines int, mark []string) (machine int, known bool) {
	socket := otherEnd(c)
	if socket == "" {
		return 0, false
	}
	for machine := range machines {
		for _, pid := range processtest.Having(fmt.Sprintf("\x00%s=%d\x00", machineVariable, machine)) {
			if marked(pid, mark) && holds(pid, socket) {
				return machine, true
			}
		}
	}
	return 0, false
}

// marked reports whether a process has all these variables.
func marked(pid int, mark []string) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for _, m := range mark {
		if !strings.Contains("\x00"+string(text), "\x00"+m+"\x00") {
			return false
		}
	}
	return true
}

// otherEnd is the name of the socket at the other end of a connection, as links in /proc have it. Its address alone
// does not tell: a connection to somewhere else that had the port before stays in the kernel's list for a minute.
func otherEnd(c net.Conn) string {
	here, there := listed(c.RemoteAddr()), listed(c.LocalAddr())
	if here == "" || there == "" {
		return ""
	}
	text, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 9 && fields[1] == here && fields[2] == there {
			return "socket:[" + fields[9] + "]"
		}
	}
	return ""
}

// listed is an address as the kernel's list has it.
func listed(a net.Addr) string {
	tcp, is := a.(*net.TCPAddr)
	if !is || tcp.IP.To4() == nil {
		return ""
	}
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(tcp.IP.To4()), tcp.Port)
}

// holds reports whether a process has a socket open.
func holds(pid int, socket string) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range links {
		if link, err := os.Readlink(path); err == nil && link == socket {
			return true
		}
	}
	return false
}

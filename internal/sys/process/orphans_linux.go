package process

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Adopt makes us the parent of what the descendants of our commands leave behind,
// so that EndOrphans finds it whatever it has done to its environment.
func Adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// EndOrphans ends our children that are in a session of their own, and all that is
// below them: what left the group of a command. Our own commands are in our session.
func EndOrphans() {
	const looks = 100 // what we kill may have been starting something
	var ended []Identity
	for range looks {
		orphans := orphansOf(os.Getpid())
		if len(orphans) == 0 {
			break
		}
		for _, pid := range orphans {
			ended = append(ended, IdentityOf(pid))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	awaitEnds(ended)
}

// status is a process as the kernel shows it.
type status struct{ pid, parent, session int }

func orphansOf(us int) (orphans []int) {
	below := map[int][]status{}
	session := 0
	for _, p := range processes() {
		below[p.parent] = append(below[p.parent], p)
		if p.pid == us {
			session = p.session
		}
	}
	var next []status
	for _, child := range below[us] {
		if child.session != session {
			next = append(next, child)
		}
	}
	for len(next) > 0 {
		orphans = append(orphans, next[0].pid)
		next = append(next[1:], below[next[0].pid]...)
	}
	return orphans
}

// processes lists those that have not ended.
func processes() (all []status) {
	for _, pid := range pids() {
		fields := statFields(readStat(pid))
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		number := func(text string) int { n, _ := strconv.Atoi(text); return n }
		all = append(all, status{pid, number(fields[1]), number(fields[3])})
	}
	return all
}

// pids lists the processes there are. A pattern such as /proc/*/stat would list what is in
// the directory of each as well, which costs more than all the rest of a look.
func pids() (all []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

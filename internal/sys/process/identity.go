package process

import "os"

// Identity tells one process from every other, also from a later one with the same
// number.
type Identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // as the system tells it; "" where it does not
	Boot  string `json:"boot,omitempty"`  // of the machine, likewise
}

// Self is the identity of this process. It stays the same over an exec.
func Self() Identity { return IdentityOf(os.Getpid()) }

// IdentityOf is the identity of the process that has this number now.
func IdentityOf(pid int) Identity {
	return Identity{PID: pid, Start: StartTime(pid), Boot: BootID()}
}

// Lives reports whether the process still runs. Where the system does not tell
// when a process started, a later one with its number counts as well.
func (i Identity) Lives() bool {
	if i.PID <= 0 || i.Boot != BootID() {
		return false
	}
	if i.Start == "" {
		return exists(i.PID)
	}
	return StartTime(i.PID) == i.Start
}

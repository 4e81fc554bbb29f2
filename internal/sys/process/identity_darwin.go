package process

import "golang.org/x/sys/unix"

// BootID tells the pids of different boots apart; empty where the system has no
// such id.
func BootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

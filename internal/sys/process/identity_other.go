//go:build !linux && !darwin

package process

// BootID tells the pids of different boots apart; empty where the system has no
// such id.
func BootID() string { return "" }

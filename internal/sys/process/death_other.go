//go:build unix && !linux

package process

import "syscall"

// dieWithUs needs the kernel's help.
func dieWithUs(*syscall.SysProcAttr) {}

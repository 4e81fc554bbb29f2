package process

import "syscall"

// dieWithUs has the kernel end the command when we are killed. It ends only the
// command itself, not what that has started: EndMarked finds those.
//
// The kernel goes by the thread that started the command. Go ends a thread only
// when a goroutine that is locked to it ends, and we lock none.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

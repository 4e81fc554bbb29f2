//go:build unix

package supervisor

import "syscall"

// openFlags keep us from following a link and from waiting for the other end of
// a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

//go:build unix

package regular

import "syscall"

// NonBlocking is the flag with which opening a pipe does not wait for its other end.
const NonBlocking = syscall.O_NONBLOCK

// NoFollow is the flag with which opening a link fails.
const NoFollow = syscall.O_NOFOLLOW

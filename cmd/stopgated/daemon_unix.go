//go:build unix

package main

import "syscall"

// closeOnExec keeps a file that we were given from what we start.
func closeOnExec(fd uint64) { syscall.CloseOnExec(int(fd)) }

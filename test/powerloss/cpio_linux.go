package main

import (
	"bytes"
	"fmt"
	"strings"
)

// archive is a file system that a kernel unpacks into its memory when it starts: a cpio archive of
// the newc format.
type archive struct {
	text  bytes.Buffer
	inode int
}

const (
	modeDir  = 0o040755
	modeFile = 0o100755
	trailer  = "TRAILER!!!"
)

func (a *archive) dir(name string) { a.entry(name, modeDir, nil) }

func (a *archive) file(name string, data []byte) { a.entry(name, modeFile, data) }

func (a *archive) entry(name string, mode int, data []byte) {
	a.inode++
	header := []int{a.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0}
	a.text.WriteString("070701")
	for _, field := range header {
		fmt.Fprintf(&a.text, "%08x", field)
	}
	a.text.WriteString(name + "\x00")
	a.pad()
	a.text.Write(data)
	a.pad()
}

// pad fills up to a multiple of four bytes.
func (a *archive) pad() { a.text.WriteString(strings.Repeat("\x00", -a.text.Len()&3)) }

func (a *archive) bytes() []byte {
	a.entry(trailer, 0, nil)
	return a.text.Bytes()
}

package processtest

import (
	"bytes"
	"sync"
)

// Said collects what a child says, as its standard output.
type Said struct {
	First chan struct{} // closed when it has said something
	once  sync.Once
	text  bytes.Buffer
}

// NewSaid is for a child that has not said anything.
func NewSaid() *Said { return &Said{First: make(chan struct{})} }

// Write takes what the child says.
func (s *Said) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.First) })
	return s.text.Write(p)
}

// String is all that it said. It has ended.
func (s *Said) String() string { return s.text.String() }

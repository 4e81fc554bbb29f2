package fleet

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/stopgate/stopgate/test/chaos/client"
)

// clientKinds are the commands whose agents are Claude Code: one that signals by itself, and one that its stop hook
// holds to its signal.
var clientKinds = []string{"signals", "held"}

// useClient gives the machines the client that CHAOS_CLIENT names, each with a model of its own; without it their
// client is a stand-in.
func (s *stage) useClient() {
	s.Helper()
	program := os.Getenv("CHAOS_CLIENT")
	if program == "" {
		check(s.T, os.Symlink("standin", filepath.Join(s.Bin, "standin-model")))
		return
	}
	check(s.T, client.Use(program, s.Bin))
	for _, m := range s.Machines {
		check(s.T, client.Welcome(m.Home, s.root(m)))
		listener, err := s.Network.Loopback(m.Number)
		check(s.T, err)
		m.Env = append(m.Env, client.Model(s.T, listener)...)
	}
}

// runClients has one agent after the other work on each machine, until the faults are over.
func (s *stage) runClients(over <-chan struct{}) {
	var all sync.WaitGroup
	for _, m := range s.Machines {
		all.Go(func() { s.oneByOne(m, clientKinds, m.Number, over) })
	}
	all.Wait()
}

//go:build unix

package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Found makes a fleet of all machines, each with a hub, by the commands that people use.
func (w *World) Found(ctx context.Context, name string) error {
	args := []string{"fleet", "init", name, "--yes", "--name", w.Machines[0].Name}
	for _, m := range w.Machines {
		reached, err := m.openHub()
		if err != nil {
			return err
		}
		args = append(args, "--hub", reached)
	}
	if _, err := w.Machines[0].Run(ctx, "stopgate", args...); err != nil {
		return err
	}
	for _, m := range w.Machines[1:] {
		if err := m.Join(ctx, w.Machines[0], "--hub"); err != nil {
			return err
		}
	}
	return nil
}

// Join has a machine join the fleet of another one.
func (m *Machine) Join(ctx context.Context, of *Machine, invite ...string) error {
	out, err := of.Run(ctx, "stopgate", append([]string{"fleet", "invite", "--json", "--yes"}, invite...)...)
	if err != nil {
		return err
	}
	var invitation struct{ Token string }
	if err := json.Unmarshal([]byte(out), &invitation); err != nil {
		return fmt.Errorf("fleet invite said %q: %w", out, err)
	}
	_, err = m.Run(ctx, "stopgate", "fleet", "join", invitation.Token, "--yes", "--name", m.Name)
	return err
}

// openHub opens the two ports of the machine's hub, which follow each other.
func (m *Machine) openHub() (reached string, err error) {
	for range 20 {
		port, err := m.world.Network.Open(m.Number, 0)
		if err != nil {
			return "", err
		}
		if _, err := m.world.Network.Open(m.Number, port+1); err == nil {
			return fmt.Sprintf("%s:%d", m.Address(), port), nil
		}
	}
	return "", errors.New("there are no two free ports")
}

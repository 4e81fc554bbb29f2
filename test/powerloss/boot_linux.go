package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// bootThrice starts a machine whose disk has systemd, stopgate and boot/stage on it: once to set
// everything up, once after a reboot and once after a loss of power.
func (t trial) bootThrice(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for stage := 1; stage <= 3; stage++ {
		began := time.Now()
		if err := t.stage(ctx, stage); err != nil {
			return 0, fmt.Errorf("stage %d: %w", stage, err)
		}
		fmt.Printf("powerloss: stage %d took %s\n", stage, time.Since(began).Round(time.Second))
	}
	fmt.Println("powerloss: everything was found again")
	return 0, nil
}

// stage starts the machine, and takes its power when the guest says so.
func (t trial) stage(ctx context.Context, stage int) error {
	cmd, err := t.machine.command(ctx, t.dir, fmt.Sprintf("powerloss.stage=%d", stage),
		"-drive", "file="+t.boot+",format=raw,if=virtio,cache=unsafe")
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}

	var all []string
	passed, cut := false, false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := strings.TrimRight(lines.Text(), "\r")
		all = append(all, line)
		said, ours := strings.CutPrefix(line, "powerloss: ")
		if !ours {
			continue
		}
		fmt.Println(" ", said)
		switch said {
		case fmt.Sprintf("stage %d passed", stage):
			passed = true
		case "cut":
			cut = true
			_ = cmd.Process.Kill() // it has ended if that fails
		}
	}
	if err := cmd.Wait(); err != nil && !cut || !passed {
		return fmt.Errorf("the guest did not pass: %w; it said:\n%s", errors.Join(err, ctx.Err()), last(strings.Join(all, "\n"), 60))
	}
	return nil
}

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killers kill one after the other, in an order that the seed decides.
type killers struct {
	*crowd
	order []string
	pause time.Duration
}

func (c *crowd) killers(n crowdSize) killers {
	order := slices.Concat(slices.Repeat([]string{"daemon"}, n.daemons), slices.Repeat([]string{"client"}, n.clients),
		slices.Repeat([]string{"pane"}, n.panes), []string{"tmux"})
	rand.New(rand.NewPCG(c.rng.Uint64(), 0)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return killers{c, order, n.pause}
}

func (k killers) killAll(ctx context.Context) error {
	for _, what := range k.order {
		if err := sleep(ctx, time.Duration(k.rng.Int64N(int64(k.pause)))); err != nil {
			return err
		}
		if err := k.kill(ctx, what); err != nil {
			return fmt.Errorf("killing of a %s: %w", what, err)
		}
	}
	return nil
}

func (k killers) kill(ctx context.Context, what string) error {
	switch what {
	case "daemon":
		return k.keeper.killAll(ctx, 1)
	case "tmux":
		return k.killTmux(ctx)
	}
	for {
		there := k.victims(what)
		if len(there) > 0 {
			v := there[k.rng.IntN(len(there))]
			if err := syscall.Kill(v.pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
				k.mark(what, v.agent)
				return err
			}
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// mark notes that somebody was killed.
func (k killers) mark(what, agent string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hit[what]++
	k.shot[agent] = true
}

// killTmux kills the server on which the clients run.
func (k killers) killTmux(ctx context.Context) error {
	for {
		out, err := k.tmux("display-message", "-p", "#{pid}").Output()
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(out))); err == nil && pid > 1 {
			counted := time.Now()
			there := append(k.victims("pane"), k.victims("client")...)
			err := syscall.Kill(pid, syscall.SIGKILL)
			k.mu.Lock()
			defer k.mu.Unlock()
			k.counted, k.razed = counted, time.Now()
			for _, v := range there {
				k.shot[v.agent] = true
			}
			return err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// victim is a process that belongs to an agent.
type victim struct {
	pid   int
	agent string
}

// victims are the clients, or what runs them in their panes.
func (k killers) victims(what string) (all []victim) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended since
		args := strings.Split(string(text), "\x00")
		agent := ""
		switch base := filepath.Base(args[0]); {
		case what == "client" && base == "claude":
			agent = k.agentIn(args, "agents")
		case what == "pane" && base == "stopgate" && slices.Contains(args, "--terminal"):
			agent = k.agentIn(args, "errands")
		}
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))); agent != "" {
			all = append(all, victim{pid, agent})
		}
	}
	slices.SortFunc(all, func(a, b victim) int { return a.pid - b.pid })
	return all
}

// agentIn is the agent whose file, in a directory of ours, is among the arguments.
func (k killers) agentIn(args []string, dir string) string {
	for _, arg := range args {
		if rest, ours := strings.CutPrefix(arg, filepath.Join(k.state, dir)+"/"); ours {
			agent, _, _ := strings.Cut(rest, "/")
			return agent
		}
	}
	return ""
}

package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// entry is an event of the fleet's store.
type entry struct {
	Subject string          `json:"subject"`
	Data    json.RawMessage `json:"data"`
}

func (e entry) equal(other entry) bool {
	return e.Subject == other.Subject && bytes.Equal(e.Data, other.Data)
}

// printLog is a child of the test, on one of the machines: it prints all of the fleet's store as that machine reads
// it, and fails where a part of it is damaged or missing.
func printLog(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id, err := member.Load(args[0])
	if err != nil {
		return err
	}
	nc, err := member.Connect(ctx, args[0], id)
	if err != nil {
		return err
	}
	defer nc.Close()
	l, err := link.Open(ctx, nc, id.Fleet, id.Name)
	if err != nil {
		return err
	}
	defer l.Close()
	if _, err := l.Log.Barrier(ctx); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	to := json.NewEncoder(out)
	for e, err := range l.Log.ReadAll(ctx, 0) {
		if err != nil {
			return err
		}
		data := e.Data
		if !json.Valid(data) {
			data = []byte("null")
		}
		if err := to.Encode(entry{e.Subject, data}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// readLog is the fleet's store as a machine reads it.
func (s *stage) readLog(m *world.Machine) (entries []entry, err error) {
	plain := processtest.Child(s.T, "log", m.State)
	cmd := m.Command(s.ctx, plain.Path, m.State)
	cmd.Env = append(plain.Env, m.Env...)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read the fleet's store on %s: %w\n%s", m.Name, err, problem.String())
	}
	for line := range strings.Lines(string(out)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// board is what the fleet's store tells of jobs and caps.
type board struct {
	jobs     map[string]job.Job
	facts    map[string][]job.Fact // by job
	decided  map[string]int        // how often a question about a lost machine was decided, by its id
	exceeded int                   // how often a cap held more than its limit
	most     int                   // that the cap ever held
}

// fold reads a log from its beginning.
func fold(entries []entry) (*board, error) {
	b := &board{jobs: map[string]job.Job{}, facts: map[string][]job.Fact{}, decided: map[string]int{}}
	caps := map[string]job.Cap{}
	for _, e := range entries {
		kind, name, _ := strings.Cut(e.Subject, ".")
		switch kind {
		case "job":
			var f job.Fact
			if err := json.Unmarshal(e.Data, &f); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Subject, err)
			}
			j := b.jobs[name]
			j.ID = name
			b.jobs[name] = j.After(f)
			if j.State == job.Asking && b.jobs[name].State != job.Asking {
				b.decided[job.Question(name, j.Losses)]++
			}
			b.facts[name] = append(b.facts[name], f)
		case "cap":
			var f job.CapFact
			if err := json.Unmarshal(e.Data, &f); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Subject, err)
			}
			c := caps[name].After(f)
			caps[name] = c
			b.most = max(b.most, len(c.Held))
			if c.Limit.Jobs > 0 && len(c.Held) > c.Limit.Jobs {
				b.exceeded++
			}
		}
	}
	return b, nil
}

package fleet

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/chaos/client"
	"github.com/stopgate/stopgate/test/fleet/world"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

//go:embed testdata/fleet.toml
var runbookText string

// size is how much goes wrong, and under how much work.
type size struct {
	faults  int
	part    float64 // of the times of faults in the full run
	owners  int     // at once, on all machines
	jobs    int
	work    string        // the longest that a stand-in works
	longest time.Duration // that most jobs take
	long    time.Duration // that some take
	between time.Duration // two jobs that are added
	timeout time.Duration
	rigged  bool // the programs are compiled so that clocks can be set and disks slowed
}

func sizeOfRun() size {
	if os.Getenv("STOPGATE_FULL") != "" {
		faults, err := strconv.Atoi(os.Getenv("CHAOS_FAULTS"))
		if err != nil {
			faults = 100
		}
		return size{
			faults: faults, part: 1, owners: 45, jobs: 150, work: "3s", longest: 10 * time.Second, long: 80 * time.Second,
			between: 5 * time.Second, timeout: 90 * time.Minute, rigged: true,
		}
	}
	return size{
		faults: 5, part: 0.05, owners: 6, jobs: 6, work: "400ms", longest: time.Second, long: 2 * time.Second,
		between: 300 * time.Millisecond, timeout: 15 * time.Minute,
	}
}

// stage is a fleet of real daemons and hubs, at work.
type stage struct {
	*testing.T
	*world.World
	size
	ctx     context.Context
	dir     string // what the stand-ins of all machines write down
	ids     *rand.Rand
	project string // its name in the fleet

	mu      sync.Mutex
	owners  map[string]owner
	jobs    map[string]string // by id, their tokens
	said    []word
	shot    map[string]bool // agents that were killed
	spans   []span          // when which fault was
	current fault           // the one that is now
	took    []time.Duration // by answers to other machines
	healed  []time.Duration // after faults, until all machines saw each other
	calls   []call          // of hooks
	disk    *world.Disk     // of the last machine's hub, where it has a small one
	unnamed int             // flipped bits that doctor did not name
	older   string          // where the programs of an earlier version are; empty where there are none
}

// owner is a pipeline or run that was started on a machine.
type owner struct {
	kind    string
	machine int
}

// word is something that was acknowledged, and must not be lost.
type word struct{ what, id, text string }

// span is the time of a fault.
type span struct {
	fault
	from, to time.Time
}

func newStage(t *testing.T, seed uint64, n size, network world.Connect) *stage {
	t.Helper()
	bin := t.TempDir()
	build := programs.Build
	if n.rigged {
		build = programs.BuildRigged
	}
	check(t, build(bin, "test/chaos/standin", "test/standin/claude"))
	ctx, cancel := context.WithTimeout(t.Context(), n.timeout)
	t.Cleanup(cancel)

	dir, err := os.MkdirTemp("", "fleet-ran")
	check(t, err)
	check(t, os.MkdirAll(filepath.Join(dir, "turns"), 0o700))
	w, err := world.New(world.Options{
		Bin: bin, Machines: 3, Network: network,
		Env: []string{"CHAOS_DIR=" + dir, "CHAOS_WORK=" + n.work, "STANDIN_IDLE=3s", "STOPGATE_SEED=" + strconv.FormatUint(seed, 10)},
	})
	check(t, err)
	s := &stage{
		T: t, World: w, size: n, ctx: ctx, dir: dir, ids: rand.New(rand.NewPCG(seed, 2)), project: "shop",
		owners: map[string]owner{}, jobs: map[string]string{}, shot: map[string]bool{},
		older: os.Getenv("CHAOS_OLDER"),
	}
	t.Cleanup(s.leave)
	t.Logf("three machines on %s", w.Network.Name())
	s.useClient()
	for _, m := range s.Machines {
		s.furnish(m)
	}
	return s
}

// leave ends everything. After a failure the files stay, for those who look for the cause.
func (s *stage) leave() {
	s.Keep = s.Failed()
	if err := s.Close(); err != nil {
		s.Errorf("leftovers: %v", err)
	}
	if s.Failed() {
		s.Logf("what is left is in %s and %s", s.Dir, s.dir)
		return
	}
	check(s.T, os.RemoveAll(s.dir))
}

// furnish gives a machine its project and its configuration.
func (s *stage) furnish(m *world.Machine) {
	s.Helper()
	root := s.root(m)
	check(s.T, m.Write("project/.gauntlet/runbooks/fleet.toml", runbookText))
	check(s.T, m.Write("project/.claude/settings.json", client.Settings))
	check(s.T, m.Write(".gitconfig", "[user]\n\tname = Fleet\n\temail = fleet@example.com\n"))
	check(s.T, m.Write(".config/agent-gauntlet/config.yml", fmt.Sprintf(
		"lifecycle:\n  max_agents: 40\nfleet:\n  projects:\n    - name: %s\n      path: %s\nnotify:\n  command: standin told\n", s.project, root)))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		_, err := m.Run(s.ctx, "git", append([]string{"-C", root}, args...)...)
		check(s.T, err)
	}
	_, err := m.Run(s.ctx, "sh", "-c", "cd project && stopgate trust --yes")
	check(s.T, err)
}

// found starts the daemons and makes the fleet.
func (s *stage) found() {
	s.Helper()
	begun := time.Now()
	for _, m := range s.Machines {
		check(s.T, s.startDaemon(m, "stopgated"))
	}
	s.makeDisk()
	check(s.T, s.Found(s.ctx, fleetName))
	check(s.T, s.awaitWhole())
	s.Logf("the fleet is whole after %.1f s", time.Since(begun).Seconds())
}

// makeDisk gives the last machine's hub a small disk of its own, where we may.
func (s *stage) makeDisk() {
	s.Helper()
	if os.Getuid() != 0 {
		return
	}
	m := s.Machines[len(s.Machines)-1]
	disk, err := m.SmallDisk(hubStore(m), 256)
	if err != nil {
		s.Logf("no small disk: %v", err)
		return
	}
	s.disk = disk
}

// without are the kinds of faults that are left out: those for which something is missing, and all but those that
// CHAOS_ONLY names, with commas between them.
func (s *stage) without() (left []kind) {
	only := os.Getenv("CHAOS_ONLY")
	for _, share := range shares {
		if why := s.missing(share.kind); why != "" {
			s.Logf("no fault %q: %s", share.kind, why)
		} else if only == "" || slices.Contains(strings.Split(only, ","), string(share.kind)) {
			continue
		}
		left = append(left, share.kind)
	}
	return left
}

// missing is why there can be no fault of a kind; empty where there can.
func (s *stage) missing(k kind) string {
	switch k {
	case fullDisk:
		if s.disk == nil {
			return "only root can make a small disk"
		}
	case slowSync, moveClock:
		if !s.rigged {
			return "the programs have the true clock and disk"
		}
	case olderDaemon:
		if s.older == "" {
			return "CHAOS_OLDER does not name the programs of an earlier version"
		}
	}
	return ""
}

// root is a machine's project.
func (s *stage) root(m *world.Machine) string { return filepath.Join(m.Home, "project") }

// name is that of a machine.
func (s *stage) name(machine int) string { return s.Machines[machine].Name }

// startDaemon starts a machine's daemon and waits until it is ready.
func (s *stage) startDaemon(m *world.Machine, program string) error {
	l, err := m.StartDaemon(program)
	if err != nil {
		return err
	}
	return l.Await(s.ctx)
}

// newID is an id that the seed decides, as far as the order of those who ask does not.
func (s *stage) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], s.ids.Uint64())
	return hex.EncodeToString(b[:])
}

// acknowledged notes something that must not be lost any more.
func (s *stage) acknowledged(what, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, word{what, id, text})
}

// remote notes how long a request to another machine took.
func (s *stage) remote(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, took)
}

// insist asks until there is an answer, also that something is refused: daemons are killed, paused and cut off.
func insist(ctx context.Context, ask func() error) (err error) {
	for range pause.Doubling(ctx, 20*time.Millisecond, time.Second) {
		var refused *daemonapi.Error
		if err = ask(); err == nil || errors.As(err, &refused) {
			return err
		}
	}
	return errors.Join(ctx.Err(), err)
}

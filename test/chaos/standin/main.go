// The program standin is what the pipelines of the chaos test run: commands of steps,
// gates and agents, and what tells people. It does what its script says, and writes down
// that it ran, so that every execution counts.
//
//	standin step|gate|agent NAME SCRIPT
//	standin told MESSAGE
//	standin heard       a hook of a client
//	standin-model TEXT  the model of a stand-in client
//
// A script is acts, such as "work fail". Where it has parts, as in "fail / ok", the first
// time that the owner runs it is the first part's, the next the next one's, and all that
// follow are the last one's.
//
// Stand-ins on several machines share CHAOS_DIR. "only=NAME" says that no two may be at that at once, and
// "among=4:NAME" that no five may. "for=70s" works for so long.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/test/chaos/ran"
)

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Println(err)
	var code exitCode
	if !errors.As(err, &code) {
		code = 70
	}
	os.Exit(int(code))
}

// exitCode is a script that ends with an exit code.
type exitCode int

func (e exitCode) Error() string { return "it failed, as it should" }

func run(args []string) error {
	dir := os.Getenv("CHAOS_DIR")
	switch {
	case filepath.Base(os.Args[0]) == "standin-model":
		return think(strings.Join(args, " "))
	case len(args) == 1 && args[0] == "heard":
		return heard(dir)
	case len(args) == 2 && args[0] == "told":
		return ran.Write(dir, ran.Line{What: "told", Text: args[1]})
	}
	if len(args) != 3 {
		return fmt.Errorf("it takes three arguments, not %q", args)
	}
	errands := os.Getenv("STOPGATE_ERRAND")
	owner, err := errand.Owner(errands)
	if err != nil {
		return err
	}
	s := &standIn{
		dir: dir, state: os.Getenv("STOPGATE_STATE_DIR"), agent: os.Getenv("STOPGATE_AGENT_ID"),
		line: ran.Line{Kind: args[0], Owner: owner, Name: args[1], Key: filepath.Base(errands)},
		seen: map[string]bool{},
	}
	return s.run(args[2])
}

type standIn struct {
	dir, state string
	agent      string
	line       ran.Line // what all that it writes has in common
	turn       int      // how often the owner has run this before
	emitted    int
	seen       map[string]bool // messages
}

func (s *standIn) run(script string) error {
	if err := s.note(ran.Line{What: "begun"}); err != nil {
		return err
	}
	if s.line.Kind != "gate" { // which runs beside its agent
		release, err := s.alone("owner-"+s.line.Owner, "together")
		if err != nil {
			return err
		}
		defer release()
	}
	turn, err := s.count()
	if err != nil {
		return err
	}
	s.turn = turn
	parts := strings.Split(script, "/")
	for act := range strings.FieldsSeq(parts[min(turn, len(parts)-1)]) {
		if err := s.act(act); err != nil {
			return err
		}
	}
	return nil
}

// alone holds a lock that nobody else may want at the same time.
func (s *standIn) alone(lock, complaint string) (release func(), err error) {
	release, err = lockfile.Acquire(context.Background(), filepath.Join(s.dir, "locks", lock), 0)
	if errors.Is(err, lockfile.ErrBusy) {
		return func() {}, s.note(ran.Line{What: complaint, Text: lock, At: time.Now()})
	}
	return release, err
}

// among takes one of so many places until it ends, such as "4:name": it must find one.
func (s *standIn) among(limit string) error {
	number, name, _ := strings.Cut(limit, ":")
	places, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for i := range places {
		_, err := lockfile.Acquire(context.Background(), filepath.Join(s.dir, "locks", fmt.Sprintf("among-%s-%d", name, i)), 0)
		if !errors.Is(err, lockfile.ErrBusy) {
			return err
		}
	}
	return s.note(ran.Line{What: "exceeded", Text: limit})
}

// count is how often the owner has run this before.
func (s *standIn) count() (int, error) {
	for turn := 0; ; turn++ {
		f, err := os.OpenFile(filepath.Join(s.dir, "turns", fmt.Sprintf("%s-%s-%d", s.line.Owner, s.line.Name, turn)), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return turn, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return 0, err
		}
	}
}

func (s *standIn) act(act string) error {
	if name, is := strings.CutPrefix(act, "only="); is {
		_, err := s.alone("only-"+name, "overlapped") // until it ends
		return err
	}
	if limit, is := strings.CutPrefix(act, "among="); is {
		return s.among(limit)
	}
	if text, is := strings.CutPrefix(act, "for="); is {
		long, err := time.ParseDuration(text)
		time.Sleep(long)
		return err
	}
	switch act {
	case "work":
		time.Sleep(s.effort())
	case "hang":
		time.Sleep(time.Hour)
	case "ok":
	case "fail":
		return exitCode(3)
	case "crowd":
		_, err := s.alone("crowd", "crowded") // until it ends
		return err
	case "complete", "escalate", "continue":
		token := s.token()
		return s.emit("agent:signal", token, fmt.Sprintf(`{"kind":%q,"message":%q}`, act, token))
	case "idle":
		token := s.token()
		return s.emit("agent:idle", token, "--prompt", token)
	case "prompt":
		return s.emit("agent:prompt", "", "--type", "permission")
	case "wait":
		return s.await()
	default:
		return fmt.Errorf("there is no act %q", act)
	}
	return nil
}

// effort is how long it works: by chance, which the seed decides.
func (s *standIn) effort() time.Duration {
	longest, err := time.ParseDuration(os.Getenv("CHAOS_WORK"))
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, os.Getenv("STOPGATE_SEED"), s.line.Owner, s.line.Name, s.turn)
	part := binary.BigEndian.Uint64(h.Sum(nil)) % 1000
	return longest * time.Duration(part) / 1000
}

// token is one that no other word of any agent has.
func (s *standIn) token() string {
	s.emitted++
	return s.agent + "." + strconv.Itoa(s.emitted)
}

// emit says something to the daemon. When that ends well, it must not be lost.
func (s *standIn) emit(event, token string, args ...string) error {
	out, err := exec.Command("stopgate", append([]string{"emit", event, "--agent", s.agent}, args...)...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return s.note(ran.Line{What: "emitted", Event: event, Text: token})
	case errors.As(err, &exit) && !exit.Exited():
		return exitCode(143) // it was ended, and so are we
	}
	return s.note(ran.Line{What: "refused", Event: event, Text: fmt.Sprintf("%v: %s", err, out)})
}

// await waits for a message that it has not had.
func (s *standIn) await() error {
	inbox := filepath.Join(s.state, "agents", s.agent, "inbox")
	if err := os.MkdirAll(inbox, 0o700); err != nil {
		return err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := watcher.Add(inbox); err != nil {
		return err
	}
	for {
		found, err := s.receive(inbox)
		if found || err != nil {
			return err
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			return err
		}
	}
}

func (s *standIn) receive(inbox string) (bool, error) {
	entries, err := os.ReadDir(inbox)
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") && !s.seen[e.Name()] })
	if err != nil || i < 0 {
		return false, err
	}
	s.seen[entries[i].Name()] = true
	return true, nil
}

func (s *standIn) note(l ran.Line) error {
	l.Kind, l.Owner, l.Name, l.Key = s.line.Kind, s.line.Owner, s.line.Name, s.line.Key
	return ran.Write(s.dir, l)
}

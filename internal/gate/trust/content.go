package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// ErrWithheld means that a command was not run, or that its result does not count, because
// .gauntlet is not as approved and this system cannot put the approved files in its place.
var ErrWithheld = errors.New("restore with `stopgate trust --restore`, or ask a person to approve")

// Content is the approved content of a project. It runs commands so that .gauntlet holds
// exactly that for them, by whatever path they go there:
//   - in place, while that is what .gauntlet holds, which is looked at before and after;
//   - else in an enclave;
//   - else, where the system has none, not at all.
//
// A nil Content runs them as they are: nothing has to be approved.
type Content struct {
	live      string // .gauntlet, which may be a link
	real      string // where it led when it was approved; empty: it was not a link
	at        time.Time
	files     []file
	aside     string       // where things are put that are in the way
	available func() error // why there is no enclave

	mu      sync.Mutex
	inPlace int  // commands that run in place
	covers  int  // commands that run in an enclave
	made    bool // .gauntlet, for them
}

func (s Store) content(root string, a *approval) *Content {
	return &Content{
		live: s.live(root), real: realDir(root, a.Real), at: a.Time, files: a.Files,
		aside: filepath.Join(s.dir, asideDir, ProjectKey(root)), available: enclave.Available,
	}
}

// Ready reports why commands would not be run now; nil when they would.
func (c *Content) Ready() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _, err := c.choose()
	return err
}

// Run runs a command. A result whose error is ErrWithheld says nothing.
func (c *Content) Run(ctx context.Context, command process.Command) process.Result {
	if c == nil {
		return process.Run(ctx, command)
	}
	before, inPlace, err := c.begin()
	if err != nil {
		return withheld(err)
	}
	if !inPlace {
		return c.inEnclave(ctx, command)
	}

	r := process.Run(ctx, command)
	after := c.end(before)
	enclaves := after == same || c.available() == nil
	switch {
	case after == same || ctx.Err() != nil:
		return r
	case after == more && !enclaves && c.tidy() == nil:
		return r // what is there now cannot be told from what the command wrote
	case after == more && enclaves && !r.OK():
		return r // a failure needs no second look
	case enclaves:
		say(command.Output, "%s was changed while this ran, so its result does not count; it runs again with the approved files", c.live)
		return c.inEnclave(ctx, command)
	}
	return withheld(fmt.Errorf("%w: %s was changed while the command ran, so its result does not count", ErrWithheld, c.live))
}

func withheld(err error) process.Result { return process.Result{Code: -1, Err: err} }

// say puts a line into the output of a command.
func say(to io.Writer, format string, args ...any) {
	if to != nil {
		_, _ = fmt.Fprintf(to, "\nstopgate: "+format+"\n", args...) // output that is lost changes no result
	}
}

// begin decides how the next command runs, and counts it if that is in place.
func (c *Content) begin() (before sight, inPlace bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, inPlace, err = c.choose(); inPlace {
		c.inPlace++
	}
	return before, inPlace, err
}

// choose decides how a command would run now.
func (c *Content) choose() (seen sight, inPlace bool, err error) {
	seen = c.look()
	if seen.exact() {
		return seen, true, nil
	}
	missing := c.available()
	if missing == nil {
		return seen, false, c.coverable()
	}
	// Without an enclave caches are taken away, and what gates that are running write beside
	// the approved files is theirs until they have ended.
	if c.inPlace == 0 && len(seen.caches) > 0 {
		c.remove(seen.caches)
		seen = c.look()
	}
	if len(seen.changed) == 0 && (c.inPlace > 0 || len(seen.added) == 0) {
		return seen, true, nil
	}
	return seen, false, fmt.Errorf("%w: %s differs from what was approved (%s), and this system cannot put the approved files in its place (%w)",
		ErrWithheld, c.live, Summary(seen.differences()), missing)
}

// difference is what has become of .gauntlet.
type difference int

const (
	same  difference = iota
	more             // the approved files are as they were, but not alone
	other            // they are not, or were not all the time
)

// coverable reports why an enclave cannot be put over .gauntlet. There is one directory that it can be
// put over.
func (c *Content) coverable() error {
	if left := c.left(); len(left) > 0 {
		return fmt.Errorf("%w: %s led to %s when it was approved, and that is not as approved (%s)", ErrWithheld, c.live, c.real, Summary(left))
	}
	if _, err := os.Lstat(c.live); errors.Is(err, fs.ErrNotExist) {
		return nil // it is made
	}
	if info, err := os.Stat(c.live); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %s is no longer a directory", ErrWithheld, c.live)
	}
	return nil
}

// end looks again after a command in place.
func (c *Content) end(before sight) difference {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inPlace--
	marks, err := sign(c.live)
	switch {
	case err != nil:
		return other
	case maps.Equal(marks, before.marks):
		return same
	}
	for name, was := range before.marks {
		if !was.stays(marks[name]) {
			return other
		}
	}
	return more
}

// tidy puts aside what commands wrote beside the approved files, once all have ended: the
// next one must not see it.
func (c *Content) tidy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inPlace > 0 {
		return nil
	}
	dir := filepath.Join(c.aside, "written")
	_, err := c.putAside(dir, c.look().added)
	forgetOldest(dir, keptWritten)
	return err
}

// keptWritten is how often what commands wrote is kept: one that writes there does it in every run.
// What a person has restored over is kept for good.
const keptWritten = 5

// inEnclave runs a command that sees the approved files over .gauntlet. If .gauntlet itself
// is moved meanwhile, the command runs once more.
func (c *Content) inEnclave(ctx context.Context, command process.Command) process.Result {
	const tries = 2
	for range tries {
		r, moved, err := c.covered(ctx, command)
		switch {
		case err != nil:
			return withheld(fmt.Errorf("%w: the approved files cannot be put in place of %s (%w)", ErrWithheld, c.live, err))
		case !moved || ctx.Err() != nil:
			return r
		}
		say(command.Output, "%s was moved while this ran, so its result does not count", c.live)
	}
	return withheld(fmt.Errorf("%w: %s was moved while the command ran, so its result does not count", ErrWithheld, c.live))
}

func (c *Content) covered(ctx context.Context, command process.Command) (r process.Result, moved bool, err error) {
	dir, err := c.cover()
	if err != nil {
		return r, false, err
	}
	defer c.uncover()
	watch, err := enclave.NewWatch(filepath.Dir(c.live), c.live, dir)
	if err != nil {
		return r, false, err
	}

	command.Enclave = &enclave.Enclave{Dir: dir, Time: c.at}
	for _, f := range c.files {
		command.Enclave.Files = append(command.Enclave.Files, enclave.File{Path: f.Path, Exec: f.Exec, Data: f.Data})
	}
	r = process.Run(ctx, command)
	moved = watch.Close()
	if errors.Is(r.Err, enclave.ErrUnavailable) {
		err = r.Err
	}
	return r, moved, err
}

// cover returns the directory that an enclave is put over. Where .gauntlet was deleted it is
// made, empty, for as long as commands run.
func (c *Content) cover() (dir string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.Mkdir(c.live, 0o755); err == nil {
		c.made = true
	} else if !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(c.live); err != nil {
		return "", err
	}
	c.covers++
	return dir, nil
}

func (c *Content) uncover() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.covers--; c.covers == 0 && c.made {
		c.made = false
		_ = os.Remove(c.live) // unless something is in it by now
	}
}

// remove takes caches away.
func (c *Content) remove(caches []string) {
	for _, name := range caches {
		_ = os.RemoveAll(filepath.Join(c.live, filepath.FromSlash(name))) // what stays is seen by the next look
	}
}

// Remedy is what happens on this system where .gauntlet is not as approved.
type Remedy string

// The remedies.
const (
	Namespace Remedy = "namespace" // the approved files are put in its place, for the gates alone
	Block     Remedy = "block"     // no gate runs, and a stop is blocked until the files are restored
)

// RemedyHere is the remedy that this system allows, and why a better one is not available.
func RemedyHere() (Remedy, error) {
	if err := enclave.Available(); err != nil {
		return Block, err
	}
	return Namespace, nil
}

// Remedy is what happens in this project now, where it is not as approved.
func (c *Content) Remedy() Remedy {
	if c.Ready() != nil {
		return Block
	}
	return Namespace
}

// Advice tells an agent whose gates failed that what .gauntlet holds did not run, and what
// helps.
func Advice(changed []string, absent bool) string {
	what, help := fmt.Sprintf("`.gauntlet` is not as approved (%s)", Summary(changed)), "restore it with `stopgate trust --restore`, or ask a person to approve it"
	if absent {
		what, help = "`"+paths.GauntletDir+"/"+paths.ConfigFile+"` "+NotInBranch, GetHere
	}
	what += ", so the approved files ran"
	if enclave.AsUser() {
		what += ", where sudo and rootless containers cannot work"
	}
	return what + ": " + help + "."
}

func (r Remedy) String() string {
	if r == Namespace {
		return "the approved files run instead, in a private mount namespace"
	}
	return "no gate runs and a stop is blocked until it is restored (stopgate trust --restore) or approved"
}

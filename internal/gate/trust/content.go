package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/sys/commandline"
	"github.com/stopgate/stopgate/internal/sys/disk"
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
// So it does with every other approved .gauntlet of the repository that a command may go to. Without an enclave these
// hold gates up only if what was approved names them.
// A nil Content runs them as they are: nothing has to be approved.
type Content struct {
	place
	beside    func() []*place // others that a command may go to
	available func() error    // why there is no enclave

	mu      sync.Mutex
	inPlace int  // commands that run in place
	covers  int  // commands that run in an enclave
	made    bool // .gauntlet, for them
}

func (s Store) content(root string, a *approval) *Content {
	return &Content{
		place:     s.place(root, a),
		beside:    sync.OnceValue(func() []*place { return s.beside(root) }),
		available: enclave.Available,
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
		for _, v := range before[1:] { // package stop says so of the project's own
			if !v.exact() {
				say(command.Output, "%s differs from what was approved (%s); the approved files run instead", v.live, Summary(v.differences()))
			}
		}
		return c.inEnclave(ctx, command)
	}

	r := process.Run(ctx, command)
	after, where := c.end(before)
	enclaves := after == same || c.available() == nil
	switch {
	case after == same || ctx.Err() != nil:
		return r
	case after == more && !enclaves && c.tidy() == nil:
		return r // what is there now cannot be told from what the command wrote
	case after == more && enclaves && !r.OK():
		return r // a failure needs no second look
	case enclaves:
		say(command.Output, "%s was changed while this ran, so its result does not count; it runs again with the approved files", where.live)
		return c.inEnclave(ctx, command)
	}
	return withheld(c.because(where, fmt.Errorf("%s was changed while the command ran, so its result does not count", where.live)))
}

func withheld(err error) process.Result { return process.Result{Code: -1, Err: err} }

// say puts a line into the output of a command.
func say(to io.Writer, format string, args ...any) {
	if to != nil {
		_, _ = fmt.Fprintf(to, "\nstopgate: "+format+"\n", args...) // output that is lost changes no result
	}
}

// begin decides how the next command runs, and counts it if that is in place.
func (c *Content) begin() (before []view, inPlace bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, inPlace, err = c.choose(); inPlace {
		c.inPlace++
	}
	return before, inPlace, err
}

// choose decides how a command would run now.
func (c *Content) choose() (seen []view, inPlace bool, err error) {
	seen = c.views()
	if !slices.ContainsFunc(seen, func(v view) bool { return !v.exact() }) {
		return seen, true, nil
	}
	missing := c.available()
	if missing == nil {
		return seen, false, c.coverable(seen)
	}
	seen = slices.DeleteFunc(seen, func(v view) bool { return v.place != &c.place && !v.named() })
	// Without an enclave caches are taken away from the project's own, and what gates that are running write beside
	// the approved files is theirs until they have ended.
	if c.inPlace == 0 && len(seen[0].caches) > 0 {
		seen[0].remove(seen[0].caches)
		seen[0] = view{&c.place, c.look()}
	}
	for _, v := range seen {
		if v.place != &c.place {
			v.added = append(v.added, v.compiled()...) // what is another project's stays as it is
		}
		if len(v.changed) > 0 || len(v.added) > 0 && (c.inPlace == 0 || v.place != &c.place) {
			return seen, false, c.because(v.place, fmt.Errorf("%s differs from what was approved (%s), and this system cannot put the approved files in its place (%w)",
				v.live, Summary(v.differences()), missing))
		}
	}
	return seen, true, nil
}

// views looks at the project's own .gauntlet, then at the others.
func (c *Content) views() (seen []view) {
	for _, p := range c.places() {
		seen = append(seen, view{p, p.look()})
	}
	return seen
}

// places are the project's own .gauntlet, and those of the others that are there: what is not cannot run.
// A directory may be named more than once, or several of them be links to it.
func (c *Content) places() []*place {
	all := []*place{&c.place}
	looked := []string{paths.Canonical(c.live)}
	for _, p := range c.beside() {
		if dir := paths.Canonical(p.live); disk.IsDir(dir) && !slices.Contains(looked, dir) {
			all, looked = append(all, p), append(looked, dir)
		}
	}
	return all
}

// coverable reports why an enclave cannot be put over what differs.
func (c *Content) coverable(seen []view) error {
	for _, v := range seen {
		if err := v.coverable(); err != nil {
			return c.because(v.place, err)
		}
	}
	return nil
}

// because is ErrWithheld for a reason that lies in a place, and says where that is restored.
func (c *Content) because(p *place, reason error) error {
	if p == &c.place {
		return fmt.Errorf("%w: %w", ErrWithheld, reason)
	}
	return &elsewhereError{filepath.Dir(p.live), reason}
}

// elsewhereError is ErrWithheld for what the .gauntlet of another project holds: restoring this one changes nothing.
type elsewhereError struct {
	root   string
	reason error
}

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("restore with `cd %s && stopgate trust --restore`, or ask a person to approve: %v", commandline.Quote(e.root), e.reason)
}

func (e *elsewhereError) Unwrap() []error { return []error{ErrWithheld, e.reason} }

// difference is what has become of .gauntlet.
type difference int

const (
	same  difference = iota
	more             // the approved files are as they were, but not alone
	other            // they are not, or were not all the time
)

// end looks again after a command in place: at what differs most, and where.
func (c *Content) end(before []view) (after difference, where *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inPlace--
	for _, was := range before {
		now := was.since(was.marks)
		if now != same && was.place != &c.place && c.available() != nil {
			if !was.named() {
				continue
			}
			now = other // what is there may be a person's, and is not ours to put aside
		}
		if now > after {
			after, where = now, was.place
		}
	}
	return after, where
}

// tidy puts aside what commands wrote beside the project's own approved files, once all have ended: the
// next one must not see it.
func (c *Content) tidy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inPlace > 0 {
		return nil
	}
	return c.place.tidy()
}

// inEnclave runs a command that sees the approved files over .gauntlet. If .gauntlet itself
// is moved meanwhile, the command runs once more.
func (c *Content) inEnclave(ctx context.Context, command process.Command) process.Result {
	const tries = 2
	for range tries {
		r, moved, err := c.covered(ctx, command)
		switch {
		case err != nil:
			return withheld(fmt.Errorf("%w: the approved files cannot be put in place (%w)", ErrWithheld, err))
		case !moved || ctx.Err() != nil:
			return r
		}
		say(command.Output, "a %s of the repository was moved while this ran, so its result does not count", filepath.Base(c.live))
	}
	return withheld(fmt.Errorf("%w: a %s of the repository was moved while the command ran, so its result does not count", ErrWithheld, filepath.Base(c.live)))
}

func (c *Content) covered(ctx context.Context, command process.Command) (r process.Result, moved bool, err error) {
	dir, err := c.open()
	if err != nil {
		return r, false, err
	}
	defer c.close()
	watch, covers, err := c.watch(dir, c.places()[1:])
	if err != nil {
		return r, false, err
	}
	command.Enclave = &enclave.Enclave{Covers: covers}
	r = process.Run(ctx, command)
	moved = watch.Close()
	if errors.Is(r.Err, enclave.ErrUnavailable) && !moved {
		err = r.Err
	}
	return r, moved, err
}

// watch begins to watch what leads to the project's own directory and to the places beside it, and gives what an enclave
// has in their stead. One beside it may be removed at any time: what is gone cannot run.
func (c *Content) watch(dir string, beside []*place) (*enclave.Watch, []enclave.Cover, error) {
	for {
		covers, watched := []enclave.Cover{c.cover(dir)}, []string{filepath.Dir(c.live), c.live, dir}
		for _, p := range beside {
			dir := paths.Canonical(p.live)
			covers = append(covers, p.cover(dir))
			watched = append(watched, filepath.Dir(p.live), p.live, dir)
		}
		watch, err := enclave.NewWatch(watched...)
		if !errors.Is(err, fs.ErrNotExist) {
			return watch, covers, err
		}

		there := slices.DeleteFunc(slices.Clone(beside), func(p *place) bool { return !disk.IsDir(p.live) })
		if len(there) == len(beside) {
			return nil, nil, err
		}
		beside = there
	}
}

// open returns the project's own directory, over which an enclave is put. Where .gauntlet was deleted it is made, empty,
// for as long as commands run.
func (c *Content) open() (dir string, err error) {
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

func (c *Content) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.covers--; c.covers == 0 && c.made {
		c.made = false
		_ = os.Remove(c.live) // unless something is in it by now
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

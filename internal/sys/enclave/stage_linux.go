package enclave

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// word is the only argument of our own binary when it is the stage: the process that the
// kernel has put into new namespaces, and that becomes the command once all is in place.
const word = "enter-enclave"

// The stage's descriptors.
const (
	orderFD = 3
	faultFD = 4
)

// order is what the stage is told.
type order struct {
	Enclave
	Program string // empty: nothing, it is only tried
	Args    []string
	Cwd     string
	AsUser  bool // the rights to mount are those of a user in its own namespace
}

// The stage begins here, so that every program which starts commands in an enclave can be
// one, tests included, and pays for nothing else of its own.
func init() {
	if len(os.Args) != 2 || os.Args[1] != word {
		return
	}
	err := stage()
	if err == nil {
		os.Exit(0)
	}
	if _, unheard := os.NewFile(faultFD, "faults").WriteString(err.Error()); unheard != nil {
		fmt.Fprintln(os.Stderr, "stopgate: "+word+" is for stopgate's own use:", err)
	}
	os.Exit(1)
}

func stage() error {
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(faultFD)
	var o order
	if err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := o.cover(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if o.Program == "" {
		return nil
	}
	if err := os.Chdir(o.Cwd); err != nil {
		return err
	}
	if o.AsUser {
		if err := dropRights(); err != nil {
			return fmt.Errorf("drop privileges: %w", err)
		}
	}
	return fmt.Errorf("%s: %w", o.Program, syscall.Exec(o.Program, o.Args, os.Environ()))
}

// dropRights gives up what let a user mount: the command has no more rights than it would
// have elsewhere. They are this thread's alone, which is the one that becomes the command:
// init runs on the main thread.
func dropRights() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// cover puts the files over the directories, the outer ones first.
func (e *Enclave) cover() error {
	// Otherwise the mount would show outside where the machine shares its mounts, as systemd has it.
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}

	defer syscall.Umask(syscall.Umask(0o022)) // the command gets ours back
	slices.SortFunc(e.Covers, func(a, b Cover) int { return strings.Compare(a.Dir, b.Dir) })
	for i, c := range e.Covers {
		within := slices.ContainsFunc(e.Covers[:i], func(outer Cover) bool { return strings.HasPrefix(c.Dir, outer.Dir+"/") })
		if err := c.put(within); err != nil {
			return err
		}
	}
	return nil
}

// put puts the files over a directory, which need not be there within another one that was covered.
func (c *Cover) put(within bool) error {
	if within {
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("stopgate", c.Dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount over %s: %w", c.Dir, err)
	}
	for _, f := range c.Files {
		if err := c.write(f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cover) write(f File) error {
	path := filepath.Join(c.Dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	if err := os.WriteFile(path, f.Data, mode); err != nil {
		return err
	}
	return os.Chtimes(path, c.Time, c.Time)
}

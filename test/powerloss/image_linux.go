package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/test/powerloss/workload"
)

// images are mounted and looked at, one after the other.
type images struct {
	file   string // the disk
	mount  string // where it is mounted
	verify string // the program for log verify, with stopgated beside it

	tallies  []*tally
	verified tally // by log verify
}

func newImages(dir, verify string) (*images, error) {
	i := &images{file: filepath.Join(dir, "image"), mount: filepath.Join(dir, "mount"), verify: verify, verified: tally{part: "log verify"}}
	for _, p := range workload.Parts("") {
		i.tallies = append(i.tallies, &tally{part: p.Name()})
	}
	return i, os.MkdirAll(i.mount, 0o700)
}

// check mounts the image, which has ext4 put itself right as after any loss of power, and looks at
// every part. It returns what is wrong with the image; the other error ends the run.
func (i *images) check(ctx context.Context, acked map[string]int) (faults []string, err error) {
	if err := command(ctx, "mount", "-t", "ext4", "-o", "loop", i.file, i.mount); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, command(context.WithoutCancel(ctx), "umount", i.mount)) }()

	state := filepath.Join(i.mount, "state")
	fault := i.logVerify(ctx, state)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	i.verified.add(0, workload.Seen{}, fault)
	if fault != nil {
		faults = append(faults, fault.Error())
	}
	for n, part := range workload.Parts(state) {
		seen, fault := part.Check(acked[part.Name()])
		i.tallies[n].add(acked[part.Name()], seen, fault)
		if fault != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", part.Name(), fault))
		}
	}
	return faults, nil
}

// logVerify is what a person runs after a loss of power. It may find the end of the journal torn,
// where the last record was not acknowledged.
func (i *images) logVerify(ctx context.Context, state string) error {
	cmd := exec.CommandContext(ctx, i.verify, "log", "verify")
	cmd.Env = []string{"STOPGATE_STATE_DIR=" + state, "HOME=" + i.mount, "PATH=" + filepath.Dir(i.verify)}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: log verify: %w: %s", workload.ErrDamaged, err, bytes.TrimSpace(out))
	}
	return nil
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

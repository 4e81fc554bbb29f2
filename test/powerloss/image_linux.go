package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/test/powerloss/workload"
)

// images are mounted and looked at, one after the other.
type images struct {
	file   string // the disk
	mount  string // where it is mounted
	verify string // the program for log verify, with stopgated beside it

	tallies []*tally // by part
	intact  int      // images that log verify found nothing in
	cut     int      // images in which it counts lines of the journal that were cut off
}

func newImages(dir, verify string) (*images, error) {
	i := &images{file: filepath.Join(dir, "image"), mount: filepath.Join(dir, "mount"), verify: verify}
	for _, p := range workload.Parts("") {
		i.tallies = append(i.tallies, &tally{part: p.Name()})
	}
	return i, os.MkdirAll(i.mount, 0o700)
}

// check mounts the image, which has ext4 put itself right as after any loss of power, and looks at
// every part. It returns what is wrong with the image; an error ends the run.
func (i *images) check(ctx context.Context, acked map[string]int) (faults []string, err error) {
	if err := command(ctx, "mount", "-t", "ext4", "-o", "loop", i.file, i.mount); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, command(context.WithoutCancel(ctx), "umount", i.mount)) }()

	state := filepath.Join(i.mount, "state")
	cut, unsound := i.logVerify(ctx, state)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if unsound != nil {
		faults = append(faults, unsound.Error())
	}
	for n, part := range workload.Parts(state) {
		name := part.Name()
		seen, fault := part.Check(acked[name])
		i.tallies[n].add(acked[name], seen, fault)
		if fault != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", name, fault))
		}
		if name == "journal" && fault == nil && unsound == nil && cut != seen.Refused {
			faults = append(faults, fmt.Sprintf("log verify: %d lines were cut off, and %d were refused", cut, seen.Refused))
		}
	}
	switch {
	case unsound != nil:
	case cut == 0:
		i.intact++
	default:
		i.cut++
	}
	return faults, nil
}

// logVerify is what a person runs after a loss of power. It counts the lines of the journal that were
// cut off; whether these were acknowledged, the check of the journal knows.
func (i *images) logVerify(ctx context.Context, state string) (cut int, err error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, i.verify, "log", "verify", "--json")
	cmd.Env = []string{"STOPGATE_STATE_DIR=" + state, "HOME=" + i.mount, "PATH=" + filepath.Dir(i.verify)}
	cmd.Stderr = &said
	out, err := cmd.Output()
	var report struct {
		Sound   bool           `json:"sound"`
		Journal journal.Report `json:"journal"`
	}
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil || !report.Sound {
		return 0, fmt.Errorf("log verify: %v: %s%s", err, out, said.String())
	}
	return len(report.Journal.Cut), nil
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

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
	"syscall"
	"time"
)

// machine is what the guest runs on.
type machine struct {
	kernel  string // its image
	modules string // its directory below /lib/modules
	guest   string // the first process
}

// wanted are the modules without which there is no disk, each after those that it needs. A kernel
// that has one of them built in lacks the file.
var wanted = []string{
	"virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk",
	"crc16", "crc32c_generic", "mbcache", "jbd2", "ext4",
}

// initramfs is what the kernel begins with: the guest and the modules.
func (m machine) initramfs() ([]byte, error) {
	guest, err := os.ReadFile(m.guest)
	if err != nil {
		return nil, err
	}
	var a archive
	a.dir("modules")
	a.file("init", guest)
	for i, name := range wanted {
		module, err := m.module(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		a.file(fmt.Sprintf("modules/%02d-%s.ko", i, name), module)
	}
	return a.bytes(), nil
}

func (m machine) module(name string) (data []byte, err error) {
	err = filepath.WalkDir(filepath.Join(m.modules, "kernel"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || data != nil || filepath.Base(path) != name+".ko" {
			return err
		}
		data, err = os.ReadFile(path)
		return err
	})
	if err == nil && data == nil {
		err = os.ErrNotExist
	}
	return data, err
}

// patience is how long a guest may take: emulated, on a busy machine.
const patience = 30 * time.Minute

// command is QEMU with a disk, and with options for the kernel. What the guest says is its output.
// It ends with this process.
func (m machine) command(ctx context.Context, dir, options string, disk ...string) (*exec.Cmd, error) {
	initramfs, err := m.initramfs()
	if err != nil {
		return nil, err
	}
	initrd := filepath.Join(dir, "initramfs")
	if err := os.WriteFile(initrd, initramfs, 0o600); err != nil {
		return nil, err
	}
	args := append([]string{
		"-accel", "tcg", "-cpu", "max", "-m", "512", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "stdio", "-kernel", m.kernel, "-initrd", initrd, "-append", "console=ttyS0 panic=-1 loglevel=4 " + options,
	}, disk...)
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, nil
}

// write has the guest write to a disk, and records each write in a log.
func (m machine) write(ctx context.Context, dir, disk, log, options string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := m.command(ctx, dir, options,
		// The host need not sync: what the guest's disk would have is decided from the log.
		"-blockdev", "driver=file,node-name=disk,cache.no-flush=on,filename="+disk,
		"-blockdev", "driver=file,node-name=log,cache.no-flush=on,filename="+log,
		"-blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log,log-sector-size=512,log-super-update-interval=1",
		// Writes wait for their turn before they are recorded, and flushes do not: so a flush overtakes
		// writes that the guest has begun, as with a real disk.
		"-object", "throttle-group,id=slow,x-iops-write=400",
		"-blockdev", "driver=throttle,node-name=throttled,throttle-group=slow,file=logged",
		"-device", "virtio-blk-pci,drive=throttled,write-cache=on,discard=off,write-zeroes=off",
	)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil || !strings.Contains(said.String(), "guest: done") {
		return fmt.Errorf("the guest did not come to its end: %v; it said:\n%s", err, last(said.String(), 40))
	}
	return nil
}

// last is the end of a text, in lines.
func last(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

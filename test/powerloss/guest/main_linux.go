// Guest is the first process of a machine that loses its power: it mounts the disk, writes to it as
// stopgate does, and acknowledges what is done. Or it starts the system that is on the disk.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/test/powerloss/workload"
)

const device = "/dev/vda"

func main() {
	if err := run(); err != nil {
		fmt.Println("guest: failed:", err)
	} else {
		fmt.Println("guest: done")
	}
	// Without a sync: what is not on the disk now never was.
	fmt.Println(unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
	select {} // the kernel panics when its first process ends
}

func run() error {
	for kind, at := range map[string]string{"proc": "/proc", "sysfs": "/sys", "devtmpfs": "/dev"} {
		if err := mount(kind, kind, at); err != nil {
			return err
		}
	}
	if err := loadModules("/modules"); err != nil {
		return err
	}
	options, err := readOptions("/proc/cmdline")
	if err != nil {
		return err
	}
	if err := await(device); err != nil {
		return err
	}
	if err := mount("ext4", device, "/disk"); err != nil {
		return err
	}
	if options.system {
		return start("/disk")
	}
	acks, err := openAcks(options.acks)
	if err != nil {
		return err
	}
	return workload.Run(workload.Parts("/disk/state"), options.seed, options.rounds, acks.write)
}

func mount(kind, what, at string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(what, at, kind, 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", at, err)
	}
	return nil
}

// loadModules loads the modules of a directory, in the order of their names.
func loadModules(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.ko"))
	if err != nil {
		return err
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(file.Fd()), "", 0)
		file.Close()
		if err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	return nil
}

// options come with the command line of the kernel.
type options struct {
	seed   uint64
	rounds int
	acks   int64 // where acknowledgements begin on the disk
	system bool  // there is one on the disk
}

func readOptions(path string) (o options, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return o, err
	}
	for _, word := range strings.Fields(string(text)) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "powerloss.seed":
			o.seed, err = strconv.ParseUint(value, 10, 64)
		case "powerloss.rounds":
			o.rounds, err = strconv.Atoi(value)
		case "powerloss.stage":
			o.system = true
		case "powerloss.acks":
			o.acks, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// start makes the disk the root of all, and becomes its first process.
func start(disk string) error {
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if err := unix.Mount(dir, disk+dir, "", unix.MS_MOVE, ""); err != nil {
			return fmt.Errorf("move %s: %w", dir, err)
		}
	}
	if err := os.Chdir(disk); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return unix.Exec("/sbin/init", []string{"/sbin/init"}, []string{"HOME=/", "TERM=linux"})
}

// await waits for a device that the kernel is about to find.
func await(path string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s did not appear", path)
}

// acks writes acknowledgements to the disk, past the kernel's cache.
type acks struct {
	mu     sync.Mutex
	file   *os.File
	at     int64
	buffer []byte // where a page begins, as direct writes want it
}

func openAcks(at int64) (*acks, error) {
	file, err := os.OpenFile(device, os.O_WRONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	buffer, err := unix.Mmap(-1, 0, workload.AckBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return &acks{file: file, at: at, buffer: buffer}, err
}

func (a *acks) write(ack workload.Ack) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	copy(a.buffer, ack.Encode())
	_, err := a.file.WriteAt(a.buffer, a.at)
	a.at += workload.AckBytes
	return err
}

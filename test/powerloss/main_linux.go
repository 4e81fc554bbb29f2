// Powerloss takes the power from a machine that writes what stopgate writes, again and again, and
// looks at what is left. scripts/powerloss runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/test/powerloss/workload"
	"github.com/stopgate/stopgate/test/powerloss/writelog"
)

const (
	diskBytes   = 72 << 20
	systemBytes = 64 << 20 // of its file system; acknowledgements come behind it
	sectorBytes = 512
)

// trial is one run.
type trial struct {
	machine machine
	dir     string // for everything that it makes
	verify  string
	seed    uint64
	images  int    // at least so many
	boot    string // a disk with systemd
}

func main() {
	var t trial
	flag.StringVar(&t.machine.kernel, "kernel", "", "the guest's kernel")
	flag.StringVar(&t.machine.modules, "modules", "", "its modules")
	flag.StringVar(&t.machine.guest, "guest", "", "the guest's program")
	flag.StringVar(&t.verify, "stopgate", "", "the program for log verify")
	flag.StringVar(&t.dir, "dir", "", "a directory for everything that is made")
	flag.Uint64Var(&t.seed, "seed", 0, "what everything that is left to chance follows from")
	flag.IntVar(&t.images, "images", 0, "how many images to look at, at least")
	flag.StringVar(&t.boot, "boot", "", "a disk with systemd: it is started three times, and nothing else is done")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	try := t.run
	if t.boot != "" {
		try = t.bootThrice
	}
	faults, err := try(ctx)
	switch {
	case context.Cause(ctx) != nil:
		fmt.Fprintln(os.Stderr, "powerloss: interrupted")
		os.Exit(3)
	case err != nil:
		fmt.Fprintln(os.Stderr, "powerloss:", err)
		os.Exit(3)
	case faults > 0:
		os.Exit(1)
	}
}

func (t trial) run(ctx context.Context) (faults int, err error) {
	began := time.Now()
	disk, base, log := filepath.Join(t.dir, "disk"), filepath.Join(t.dir, "base"), filepath.Join(t.dir, "log")
	if err := makeDisk(ctx, base); err != nil {
		return 0, err
	}
	if err := copyFile(disk, base); err != nil {
		return 0, err
	}
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		return 0, err
	}
	rounds := max(1, t.images/imagesPerRound)
	options := fmt.Sprintf("powerloss.seed=%d powerloss.rounds=%d powerloss.acks=%d", t.seed, rounds, systemBytes)
	fmt.Printf("powerloss: seed %d; the guest performs %d operations on each kind of file\n", t.seed, 2*rounds)
	if err := t.machine.write(ctx, t.dir, disk, log, options); err != nil {
		return 0, err
	}
	fmt.Printf("powerloss: the guest ran for %s\n", time.Since(began).Round(time.Second))

	file, err := os.Open(log)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	recorded, err := writelog.Read(file, info.Size())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", log, err)
	}
	return t.cut(ctx, recorded, base)
}

// imagesPerRound is how many images one round of the workload leads to, about: each operation syncs
// its file and its directory, and for each ext4 flushes the disk twice.
const imagesPerRound = 130

// makeDisk makes a disk with an empty file system, which leaves room behind it.
func makeDisk(ctx context.Context, path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(path, diskBytes); err != nil {
		return err
	}
	return command(ctx, "mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", path, fmt.Sprint(systemBytes/4096))
}

// cut takes the power away at every flush: once with nothing of what was written after it, and then
// with parts of that.
func (t trial) cut(ctx context.Context, log *writelog.Log, base string) (faults int, err error) {
	disk, err := os.OpenFile(base, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer disk.Close()
	all, err := newImages(t.dir, t.verify)
	if err != nil {
		return 0, err
	}
	ours := func(e writelog.Entry) bool { return e.Sector < systemBytes/sectorBytes }
	random, acked := rand.New(rand.NewPCG(t.seed, 1)), map[string]int{}

	epochs := log.Epochs()
	cuts := 0
	for _, epoch := range epochs {
		if len(log.Writes(epoch, ours)) > 0 {
			cuts++
		}
	}
	subsets := max(1, (t.images-1)/max(1, cuts)) // beside the image with nothing
	made, first, told := 0, []string(nil), map[string]int{}
	for n, epoch := range epochs {
		if err := takeAcks(log, epoch, acked); err != nil {
			return 0, err
		}
		writes := log.Writes(epoch, ours)
		if len(writes) == 0 {
			continue // the same disk as at the flush before
		}
		for i := range 1 + subsets {
			var chosen []writelog.Piece
			if i > 0 {
				chosen = log.Subset(random, writes)
			}
			found, err := all.cutOnce(ctx, log, base, chosen, acked)
			if err != nil {
				return 0, fmt.Errorf("cut %d.%d: %w", n, i, err)
			}
			made++
			if len(found) > 0 {
				faults++
			}
			for _, f := range found {
				kind, _, _ := strings.Cut(f, ":")
				if told[kind]++; told[kind] <= 3 {
					first = append(first, fmt.Sprintf("cut %d.%d: %s", n, i, f))
				}
			}
		}
		if err := log.Apply(disk, writes); err != nil {
			return 0, err
		}
	}
	return faults, t.tell(all, cuts, made, faults, first)
}

// takeAcks counts the operations that were acknowledged before an epoch ended: what they wrote was
// flushed before it began.
func takeAcks(log *writelog.Log, epoch writelog.Epoch, acked map[string]int) error {
	behind := func(e writelog.Entry) bool { return e.Sector >= systemBytes/sectorBytes }
	for _, w := range log.Writes(epoch, behind) {
		data, err := log.Data(w.Entry)
		if err != nil {
			return err
		}
		ack, err := workload.DecodeAck(data)
		if err != nil {
			return err
		}
		if ack.N != acked[ack.Part]+1 {
			return fmt.Errorf("operation %d of %s was acknowledged after %d", ack.N, ack.Part, acked[ack.Part])
		}
		acked[ack.Part] = ack.N
	}
	return nil
}

// cutOnce makes one image and looks at it.
func (i *images) cutOnce(ctx context.Context, log *writelog.Log, base string, pieces []writelog.Piece, acked map[string]int) ([]string, error) {
	if err := copyFile(i.file, base); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(i.file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(log.Apply(file, pieces), file.Close()); err != nil {
		return nil, err
	}
	return i.check(ctx, acked)
}

func (t trial) tell(all *images, cuts, made, faults int, first []string) error {
	fmt.Printf("powerloss: %d images of a disk that lost its power at %d flushes\n\n", made, cuts)
	if err := print(os.Stdout, all.tallies); err != nil {
		return err
	}
	fmt.Printf("\nlog verify: %d images intact, %d of them with records that were cut off before they were durable\n", all.intact+all.cut, all.cut)
	for _, line := range first {
		fmt.Println(line)
	}
	if faults > 0 {
		fmt.Printf("powerloss: %d of %d images are not sound; POWERLOSS_SEED=%d POWERLOSS_IMAGES=%d writes the same\n", faults, made, t.seed, t.images)
		return nil
	}
	fmt.Printf("powerloss: all %d images are sound\n", made)
	return nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

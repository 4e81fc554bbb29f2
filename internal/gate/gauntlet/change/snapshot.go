package change

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// snapshot reads many files at once, with the help of what is known of them.
type snapshot struct {
	dir   folder
	at    time.Time // before anything was looked at
	known []entry   // by path
	// now holds the present stat of each known file, once it was looked up.
	now []stat
}

// lookUp takes the stat of every known file. Done while git makes its list, it
// costs little time. One core is left to git until it has listed.
func (s *snapshot) lookUp(ctx context.Context, listed <-chan struct{}) {
	s.now = make([]stat, len(s.known))
	spread(max(1, runtime.GOMAXPROCS(0)-1), listed, len(s.known), 64, func(i int) {
		if ctx.Err() == nil {
			// A fault here shows again when the file is read.
			s.now[i], _ = s.dir.lstat(s.known[i].path)
		}
	})
}

// unchanged reports whether the files that were looked up are exactly these, and
// as they were.
func (s *snapshot) unchanged(names []string) bool {
	if s.now == nil || len(names) != len(s.now) {
		return false
	}
	for i := range names {
		if s.now[i] != s.known[i].stat || s.known[i].path != names[i] {
			return false
		}
	}
	return true
}

// fault is why a file could not be read.
type fault struct {
	name string
	err  error
}

// read gives an entry for each name that exists and can be read. The names must be sorted, each once.
func (s *snapshot) read(ctx context.Context, names []string) (files []entry, faults []fault, err error) {
	files = make([]entry, len(names))
	known := make([]*entry, len(names))
	var unread []int
	for i, k := 0, 0; i < len(names); i++ {
		for k < len(s.known) && s.known[k].path < names[i] {
			k++
		}
		if k < len(s.known) && s.known[k].path == names[i] {
			known[i] = &s.known[k]
			if s.now != nil && s.now[k] == s.known[k].stat {
				files[i] = s.known[k]
				continue
			}
		}
		unread = append(unread, i)
	}

	errs := make([]error, len(unread))
	buffers := sync.Pool{New: func() any { return new([128 << 10]byte) }}
	spread(runtime.GOMAXPROCS(0), atOnce, len(unread), 1, func(n int) {
		buf := buffers.Get().(*[128 << 10]byte)
		defer buffers.Put(buf)
		i := unread[n]
		if errs[n] = ctx.Err(); errs[n] == nil {
			files[i], errs[n] = s.dir.read(ctx, names[i], known[i], buf[:])
		}
	})

	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	for n, err := range errs {
		if err != nil {
			faults = append(faults, fault{names[unread[n]], err})
		}
	}
	return slices.DeleteFunc(files, func(e entry) bool { return !e.stat.exists() }), faults, nil
}

// learn gives what is known after these files were read, and whether that is
// anything else than before. What is known of other files is kept as long as
// they are as they were: they may be inputs that git ignores.
func (s *snapshot) learn(files []entry) (known []entry, changed bool) {
	known = make([]entry, 0, max(len(files), len(s.known)))
	k := 0
	keep := func(until string, all bool) {
		for ; k < len(s.known) && (all || s.known[k].path < until); k++ {
			if s.now == nil || s.now[k] == s.known[k].stat {
				known = append(known, s.known[k])
			} else {
				changed = true
			}
		}
	}

	for i := range files {
		f := &files[i]
		keep(f.path, false)
		old := k < len(s.known) && s.known[k].path == f.path
		same := old && s.known[k].stat == f.stat
		if old {
			k++
		}
		if same || f.stat.settled(s.at) {
			known = append(known, *f)
		}
		changed = changed || !same && (old || f.stat.settled(s.at))
	}
	keep("", true)
	return known, changed
}

// atOnce is for a spread where git does not need the core.
var atOnce = func() chan struct{} {
	now := make(chan struct{})
	close(now)
	return now
}()

// spread calls do for 0 to n-1, a block at a time, from several goroutines and from
// one more when late is closed, and returns when all calls are done. A panic in one
// of them becomes the caller's: in a goroutine it would end the process, and the
// client takes that for a block.
func spread(workers int, late <-chan struct{}, n, block int, do func(i int)) {
	var next atomic.Int64
	var broken atomic.Value
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				broken.Store(fmt.Sprint(r))
			}
		}()
		for {
			from := int(next.Add(int64(block))) - block
			if from >= n {
				return
			}
			for i := from; i < min(from+block, n); i++ {
				do(i)
			}
		}
	}

	var group sync.WaitGroup
	for range min(workers, (n+block-1)/block) {
		group.Go(work)
	}
	group.Go(func() {
		<-late
		work()
	})

	group.Wait()
	if r := broken.Load(); r != nil {
		panic(r)
	}
}

// merge joins two lists of names into one that is sorted and names nothing
// twice. Both are usually sorted already.
func merge(a, b []string) []string {
	for _, list := range [][]string{a, b} {
		if !slices.IsSorted(list) {
			slices.Sort(list)
		}
	}
	if len(a) == 0 {
		return slices.Compact(b)
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if strings.Compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return slices.Compact(append(append(out, a...), b...))
}

package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/digest"
)

// maxStem leaves room for the reviewer, the slot, the number and the extension
// within the 255 bytes that a name may have.
const maxStem = 200

// Stem is the part of a file's name that a job gives it: its id with "_" for
// every character outside [A-Za-z0-9._-]. One that is too long ends in a hash.
func Stem(job string) string {
	stem := plain(job)
	if len(stem) > maxStem {
		return hashed(stem, job)
	}
	return stem
}

func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, text)
}

// hashed is the stem with a hash of the job in place of what is too much.
func hashed(stem, job string) string {
	mark := "-" + digest.Hex(job)[:8]
	return stem[:min(len(stem), maxStem-len(mark))] + mark
}

// Apart is the directory with names that keep these jobs' files apart: where two
// of them have the same stem, a hash follows it. Some file systems do not tell
// upper from lower case.
func (d Dir) Apart(jobs []string) Dir {
	first := map[string]string{} // by stem
	d.ambiguous = map[string]bool{}
	for _, job := range jobs {
		stem := strings.ToLower(Stem(job))
		other, taken := first[stem]
		if !taken {
			first[stem] = job
		} else if other != job {
			d.ambiguous[other], d.ambiguous[job] = true, true
		}
	}
	return d
}

func (d Dir) stem(job string) string {
	if d.ambiguous[job] {
		return hashed(plain(job), job)
	}
	return Stem(job)
}

// CheckLog is the path of a check's log in run n.
func (d Dir) CheckLog(job string, n int) string {
	return d.file(fmt.Sprintf("%s.%d.log", d.stem(job), n))
}

// Ensure makes the directory again where it is gone.
func (d Dir) Ensure() { _ = d.make() }

// CreateCheckLog makes the file CheckLog. The directory is made again where it is gone.
func (d Dir) CreateCheckLog(job string, n int) (*os.File, error) {
	const flags = os.O_CREATE | os.O_EXCL | os.O_WRONLY
	log, err := os.OpenFile(d.CheckLog(job, n), flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && d.make() == nil {
		return os.OpenFile(d.CheckLog(job, n), flags, 0o600)
	}
	return log, err
}

// ReviewFile is the path of what a reviewer left in run n: its transcript when
// ext is "log", its answer when it is "json".
func (d Dir) ReviewFile(job, adapter string, slot, n int, ext string) string {
	return d.file(fmt.Sprintf("%s_%s@%d.%d.%s", d.stem(job), plain(adapter), slot, n, ext))
}

// IsOwn reports whether a file of a log directory is ours by its name.
func IsOwn(name string) bool {
	return name == stateName || strings.HasPrefix(name, lockName) || strings.HasPrefix(name, debugName) || isGateLog(name)
}

// Writes reports whether a path below a log directory is one that runs write, by its name.
func Writes(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == archiveName || IsOwn(first)
}

// isGateLog reports whether a name is one that CheckLog, ReviewFile or Console
// gives, of whatever run.
func isGateLog(name string) bool {
	log, ok := parseLog(name)
	switch {
	case !ok:
		return false
	case strings.HasPrefix(log.stem, "review_"):
		return true
	case log.ext == "log":
		return log.stem == "console" || strings.HasPrefix(log.stem, "check_")
	}
	return false
}

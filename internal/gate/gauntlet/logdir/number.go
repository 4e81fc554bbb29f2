package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

// NextRun is the number of the run that starts now: one more than the highest
// among all numbered logs, whoever wrote them.
func (d Dir) NextRun() (int, error) {
	entries, err := disk.List(d.path)
	if err != nil {
		return 0, err
	}
	highest := 0
	for _, entry := range entries {
		if log, ok := parseLog(entry.Name()); ok {
			highest = max(highest, log.run)
		}
	}
	return highest + 1, nil
}

// Console makes the console log of a new run, console.N.log, and gives it its
// number. Runs that start at once, as external ones may, get different ones.
func (d Dir) Console() (*os.File, int, error) {
	if err := d.make(); err != nil {
		return nil, 0, err
	}
	n, err := d.NextRun()
	if err != nil {
		return nil, 0, err
	}
	for ; ; n++ {
		path := d.file(fmt.Sprintf("console.%d.log", n))
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return file, n, err
		}
	}
}

func isLog(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".json")
}

// log is a numbered log's name, stem.N.ext, taken apart.
type log struct {
	stem string
	run  int
	ext  string
}

func parseLog(name string) (log, bool) {
	if !isLog(name) {
		return log{}, false
	}
	dot := strings.LastIndexByte(name, '.')
	rest, ext := name[:dot], name[dot+1:]
	if dot = strings.LastIndexByte(rest, '.'); dot < 0 {
		return log{}, false
	}
	run, ok := parseRun(rest[dot+1:])
	return log{rest[:dot], run, ext}, ok
}

// parseRun reads a run's number. More digits than a run ever has make a name
// that is not one of ours, and would make the next number overflow.
func parseRun(digits string) (int, bool) {
	const most = 9
	if digits == "" || len(digits) > most || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	run, err := strconv.Atoi(digits)
	return run, err == nil
}

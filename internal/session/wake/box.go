package wake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Box holds the letters to one agent. Every change is made under its lock, which
// nobody holds for longer than it takes to write a file. The one who sends holds
// another lock, so that a slow gateway keeps nobody from putting letters.
type Box struct{ agentID, dir string }

// maxWaiting is how many letters wait for an agent at most. Whoever comes back to that
// many has no use for more.
const maxWaiting = 1000

// patience is how long one waits for the others that change a box.
const patience = 5 * time.Second

func (b Box) path(name string) string { return filepath.Join(b.dir, name) }

// change makes a change while nobody else makes one. It hands over the letters that
// wait, the oldest first.
func (b Box) change(do func(waiting []letterFile) error) error {
	release, err := lockfile.Acquire(context.Background(), b.path("lock"), patience)
	if err != nil {
		return err
	}
	defer release()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	removeLitter(b.dir)
	return do(lettersOf(entries))
}

// put writes a letter behind those that wait.
func (b Box) put(l Letter) error {
	if !isKey(l.Key) {
		return fmt.Errorf("invalid message key %q", l.Key)
	}
	text, err := rawjson.Marshal(l)
	if err != nil {
		return err
	}

	return b.change(func(waiting []letterFile) error {
		past, _ := b.past() // where it cannot be read, better twice than never
		dead := b.dead()
		for _, files := range [][]letterFile{waiting, past, dead} {
			if _, known := find(files, l.Key); known {
				return nil
			}
		}

		if err := b.sign(); err != nil {
			return err
		}
		if len(waiting)+len(past)+len(dead) == 0 {
			syncParents(b.dir, 3)
		}

		file := letterFile{number: 1 + max(lastNumber(waiting), lastNumber(past), lastNumber(dead)), key: l.Key}
		if err := atomicfile.Write(b.path(file.name()), append(text, '\n'), 0o600); err != nil {
			return err
		}
		b.thin(waiting)
		return nil
	})
}

// thin makes room for one letter more among so many. The oldest go, but for the first
// one, which may be on its way. What cannot be moved now is moved for the next letter.
func (b Box) thin(waiting []letterFile) {
	excess := len(waiting) + 1 - maxWaiting
	if excess <= 0 {
		return
	}
	for _, file := range waiting[1 : 1+excess] {
		l, _ := readLetter(b.path(file.name()), file.key) // of one that is damaged less is known
		_ = b.bury(file, l.obituary(fmt.Sprintf("more than %d messages were waiting", maxWaiting)))
	}
}

// sign leaves the agent's name in a box that is not named after it.
func (b Box) sign() error {
	if !strings.HasPrefix(filepath.Base(b.dir), hashMark) {
		return nil
	}
	if id, err := readRegular(b.path(idFile), maxID); err == nil && string(id) == b.agentID {
		return nil
	}
	return atomicfile.Write(b.path(idFile), []byte(b.agentID), 0o600)
}

// lastNumber is the highest of the files.
func lastNumber(files []letterFile) (last int64) {
	for _, f := range files {
		last = max(last, f.number)
	}
	return last
}

// files are the letters that wait, the oldest first.
func (b Box) files() ([]letterFile, error) {
	entries, err := disk.List(b.dir)
	return lettersOf(entries), err
}

// Waiting tells whether there is a letter to send.
func (b Box) Waiting() (bool, error) {
	files, err := b.files()
	return len(files) > 0, err
}

// Hold makes the caller the only sender of this box until it calls release. The error
// wraps lockfile.ErrBusy when there is one already.
func (b Box) Hold() (release func(), err error) {
	return lockfile.Acquire(context.Background(), b.path("sender.lock"), 0)
}

// Next is the oldest letter, false when there is none. It is for the one who holds the
// box. A file that is no letter is set aside among the dead ones.
func (b Box) Next() (Letter, bool, error) {
	files, err := b.files()
	if err != nil {
		return Letter{}, false, err
	}
	past, err := b.past()
	if err != nil {
		return Letter{}, false, err
	}

	for _, file := range files {
		if _, sent := find(past, file.key); sent {
			// Its sender was killed before it could remove it.
			b.forget()
			if err := disk.Remove(b.path(file.name())); err != nil {
				return Letter{}, false, err
			}
			continue
		}

		l, err := readLetter(b.path(file.name()), file.key)
		switch {
		case err == nil:
			return l, true, nil
		case errors.Is(err, errNoLetter):
			why := DeadLetter{Why: plain.Line(err.Error())}
			err = b.change(func([]letterFile) error { return b.bury(file, why) })
		case errors.Is(err, fs.ErrNotExist):
			err = nil // a person took it out
		}
		if err != nil {
			return Letter{}, false, err
		}
	}
	return Letter{}, false, nil
}

// find is the file of the letter with that key.
func find(files []letterFile, key string) (letterFile, bool) {
	i := slices.IndexFunc(files, func(f letterFile) bool { return f.key == key })
	if i < 0 {
		return letterFile{}, false
	}
	return files[i], true
}

// Sent takes a letter out that was delivered.
func (b Box) Sent(l Letter) error {
	return b.change(func(waiting []letterFile) error {
		file, ok := find(waiting, l.Key)
		if !ok { // a person took it out
			file = letterFile{number: 1, key: l.Key}
		}
		// First of all it is known as sent: killed now, the next sender removes it.
		if err := b.remember(file); err != nil {
			return err
		}
		b.forget()
		if !ok {
			return nil
		}
		return disk.Remove(b.path(file.name()))
	})
}

// Kill sets a letter aside that will never be delivered.
func (b Box) Kill(l Letter, why string) error {
	return b.change(func(waiting []letterFile) error {
		file, ok := find(waiting, l.Key)
		if !ok {
			return nil
		}
		return b.bury(file, l.obituary(why))
	})
}

// readLetter reads the letter with that key.
func readLetter(path, key string) (l Letter, err error) {
	text, err := readRegular(path, maxFile)
	if err != nil {
		return Letter{}, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return Letter{}, fmt.Errorf("%w: %w", errNoLetter, err)
	}
	if l.Key != key {
		return Letter{}, fmt.Errorf("%w: its key is %q", errNoLetter, l.Key)
	}
	return l, nil
}

// Package ran is what the stand-ins of the chaos tests write down: every execution counts.
package ran

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Line is one thing that happened.
type Line struct {
	What  string `json:"what"` // begun, emitted, refused, told, together, crowded, exceeded, heard
	Kind  string `json:"kind,omitempty"`
	Owner string `json:"owner,omitempty"`
	Name  string `json:"name,omitempty"`
	Key   string `json:"key,omitempty"`   // of the errand: an effect's key or an agent's id
	Event string `json:"event,omitempty"` // that was emitted
	Text  string `json:"text,omitempty"`  // what tells it from others of its kind; a message

	At time.Time `json:"at,omitzero"` // of a complaint
}

func file(dir string) string { return filepath.Join(dir, "ran") }

// Write adds a line to those of a directory, in one piece.
func Write(dir string, l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// Read are the lines of a directory.
func Read(dir string) (lines []Line, err error) {
	f, err := os.Open(file(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var l Line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%w: %s", err, scanner.Text())
		}
		lines = append(lines, l)
	}
	return lines, scanner.Err()
}

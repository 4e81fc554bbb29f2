package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/test/chaos/model"
	"github.com/stopgate/stopgate/test/chaos/ran"
)

// heard is a hook of a client: it writes down which client began which session, and what
// it was told.
func heard(dir string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var payload struct {
		Event   string `json:"hook_event_name"`
		Session string `json:"session_id"`
		Prompt  string
	}
	if err := json.Unmarshal(text, &payload); err != nil {
		return err
	}
	l := ran.Line{What: "heard", Key: os.Getenv("STOPGATE_AGENT_ID"), Event: payload.Event, Text: payload.Prompt, Owner: payload.Session}
	if payload.Event == "SessionStart" && others(payload.Session, os.Getppid()) > 0 {
		err = ran.Write(dir, ran.Line{What: "together", Key: l.Key, Text: "session " + payload.Session})
	}
	return errors.Join(err, ran.Write(dir, l))
}

// others counts the clients of a session besides that of a hook, by what the system tells. What a client has forked
// looks like the client until it runs another program.
func others(session string, hook int) (n int) {
	clients := map[int]bool{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended since; of one that is being buried nothing is left
		args := strings.Split(string(text), "\x00")
		if filepath.Base(args[0]) == "claude" && strings.Contains(string(text), session) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			clients[pid] = true
		}
	}
	own := ancestors(hook)
	for pid := range clients {
		isOwn := func(ancestor int) bool { return own[ancestor] && clients[ancestor] }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(ancestors(pid))), isOwn) {
			n++
		}
	}
	return n
}

// ancestors are a process and those that it comes from.
func ancestors(pid int) map[int]bool {
	all := map[int]bool{}
	for pid > 1 && !all[pid] {
		all[pid] = true
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(text), ") ")
		var state string
		if _, err := fmt.Sscan(rest, &state, &pid); err != nil {
			break
		}
	}
	return all
}

// think is the stand-in client's model.
func think(text string) error {
	time.Sleep(pause(text))
	switch model.Next(text) {
	case model.Ask:
		fmt.Println("ask " + model.Question)
	case model.Complete:
		out, err := exec.Command("stopgate", "emit", "agent:signal", "--agent", os.Getenv("STOPGATE_AGENT_ID"), "complete").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		fmt.Println("Done.")
	default:
		fmt.Println("I stop.")
	}
	return nil
}

// pause is how long it thinks: by chance, which the seed decides.
func pause(text string) time.Duration {
	longest, err := time.ParseDuration(os.Getenv("CHAOS_WORK"))
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, os.Getenv("STOPGATE_SEED"), os.Getenv("STOPGATE_AGENT_ID"), text)
	return time.Duration(rand.New(rand.NewPCG(h.Sum64(), 0)).Int64N(int64(longest) + 1))
}

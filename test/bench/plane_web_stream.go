//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// stream is a browser that is kept current about one page.
type stream struct {
	address string
	body    io.Closer
	mu      sync.Mutex
	updates int
	bytes   int
	have    []byte        // the page as it was sent last
	next    chan struct{} // closed when it is sent again
	ended   error
}

// open has so many browsers look at the pages in turn, and waits until each has got its page.
func (s *site) open(ctx context.Context, browsers int) (all []*stream, err error) {
	pages := webAddresses()
	for i := range browsers {
		b, err := s.stream(ctx, pages[i%len(pages)])
		if err != nil {
			return all, err
		}
		all = append(all, b)
	}
	for _, b := range all {
		if err := b.wait(ctx, func([]byte) bool { return true }); err != nil {
			return all, err
		}
	}
	return all, nil
}

func closeAll(all []*stream) {
	for _, b := range all {
		_ = b.body.Close()
	}
}

func (s *site) stream(ctx context.Context, address string) (*stream, error) {
	answer, err := s.ask(ctx, "/live?page="+url.QueryEscape(address))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	b := &stream{address: address, body: answer.Body, next: make(chan struct{})}
	go b.read(answer.Body)
	return b, nil
}

// read counts what is sent, event by event.
func (b *stream) read(from io.Reader) {
	lines := bufio.NewReader(from)
	var name string
	var sent []byte
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			b.end(err)
			return
		}
		sent = append(sent, line...)
		if value, is := bytes.CutPrefix(line, []byte("event: ")); is {
			name = string(bytes.TrimSpace(value))
		}
		if len(line) > 1 {
			continue
		}
		b.take(name, sent)
		name, sent = "", nil
	}
}

func (b *stream) take(name string, sent []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += len(sent)
	if name != "main" {
		return
	}
	b.updates++
	b.have = sent
	close(b.next)
	b.next = make(chan struct{})
}

func (b *stream) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = err
	close(b.next)
}

// wait waits until what the browser has is as it should.
func (b *stream) wait(ctx context.Context, is func(page []byte) bool) error {
	for {
		b.mu.Lock()
		have, next, ended := b.have, b.next, b.ended
		b.mu.Unlock()
		if have != nil && is(have) {
			return nil
		}
		if ended != nil {
			return fmt.Errorf("the stream of %s has ended: %w", b.address, ended)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count is what was sent so far.
func (b *stream) count() (updates, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.updates, b.bytes
}

// watched is what browsers got, and what that took.
type watched struct {
	updates, bytes map[string]int // by page
	delay          series         // from an event to its update
	busy           time.Duration  // of the daemon's processor time, for updates
	rounds         float64        // of updates of all pages
}

// each is how many bytes an update of a page has.
func (w *watched) each(address string) float64 {
	return float64(w.bytes[address]) / float64(max(w.updates[address], 1))
}

// cost is the daemon's processor time for one update of all pages, in milliseconds.
func (w *watched) cost() float64 { return w.busy.Seconds() * 1e3 / w.rounds }

// watch has browsers look on while events come. What the events alone take is measured before.
func (s *site) watch(ctx context.Context, w *watched) (err error) {
	const quiet = 4 * time.Second
	end := s.feed(ctx)
	defer func() {
		if failed := end(); err == nil {
			err = failed
		}
	}()
	before := busyOf(s.daemon.Process.Pid)
	if err := sleep(ctx, quiet); err != nil {
		return err
	}
	alone := busyOf(s.daemon.Process.Pid) - before

	all, err := s.open(ctx, webBrowsers)
	defer closeAll(all)
	if err != nil {
		return err
	}
	updates, sizes := make([]int, len(all)), make([]int, len(all))
	for i, b := range all {
		updates[i], sizes[i] = b.count()
	}
	before = busyOf(s.daemon.Process.Pid)
	begun := time.Now()
	if err := s.follow(ctx, all[0], &w.delay); err != nil {
		return err
	}
	took := time.Since(begun)
	w.busy += busyOf(s.daemon.Process.Pid) - before - time.Duration(float64(alone)*took.Seconds()/quiet.Seconds())
	s.resident = max(s.resident, residentOf(s.daemon.Process.Pid))
	if w.updates == nil {
		w.updates, w.bytes = map[string]int{}, map[string]int{}
	}
	for i, b := range all {
		n, size := b.count()
		w.updates[b.address] += n - updates[i]
		w.bytes[b.address] += size - sizes[i]
	}
	n, _ := all[0].count()
	w.rounds += float64(n - updates[0])
	return nil
}

// follow measures how long it takes until a browser has what has just happened.
func (s *site) follow(ctx context.Context, b *stream, to *series) error {
	const events = 10
	for i := range events {
		if err := sleep(ctx, time.Duration(100+37*i)*time.Millisecond); err != nil { // not in step with the updates
			return err
		}
		begun := time.Now()
		if err := s.mark(); err != nil {
			return err
		}
		name := []byte(markName(s.marks))
		if err := b.wait(ctx, func(page []byte) bool { return bytes.Contains(page, name) }); err != nil {
			return err
		}
		to.add(time.Since(begun), 0)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// busyOf is the processor time that the threads of a process have had; zero where that is not known.
func busyOf(pid int) (busy time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is good
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may have ended
		var ns int64
		_, _ = fmt.Sscan(string(text), &ns)
		busy += time.Duration(ns)
	}
	return busy
}

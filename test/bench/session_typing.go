//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/terminal"
)

// typing measures how long 100 kB take from here to a program in a pane, by the ways
// that there are.
func typing(ctx context.Context, l *lab, r *report) error {
	const rounds, limit = 60, 1.5
	s, err := l.newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	d, err := s.newDesk(ctx, longPrompt(100_000))
	if err != nil {
		return err
	}
	defer d.conn.Close()
	ways := []func(context.Context) error{d.byBuffer, d.byPaste, d.byKeys}
	m, err := turns(rounds, len(ways), func(i int) (time.Duration, float64, error) {
		start := time.Now()
		if err := ways[i](ctx); err != nil {
			return 0, 0, err
		}
		err := d.arrived()
		return time.Since(start), 0, err
	})
	if err != nil {
		return err
	}
	r.table("**Typing 100 kB**, until a program in the pane has read all of it")
	r.reference("tmux load-buffer, tmux paste-buffer by hand", &m[0])
	r.row("terminal.Paste", &m[1], figure{m[1].ratioTo(&m[0]), "times by hand", limit})
	r.row("tmux send-keys -l, in pieces of 8 kB", &m[2], figure{m[2].ratioTo(&m[0]), "times by hand", 0})
	return nil
}

// longPrompt is text that send-keys can carry too: it takes a semicolon at the end of
// an argument for its own.
func longPrompt(size int) string {
	const line = "A prompt says \"what\" is to be done, -why- and 'how' – in $many lines. ✅\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	return strings.ToValidUTF8(text, "?")
}

// desk types a text into a pane whose program says what it got.
type desk struct {
	*stage
	pane   terminal.Pane
	text   string
	file   string // holds the text
	conn   net.Conn
	output *bufio.Scanner
}

func (s *stage) newDesk(ctx context.Context, text string) (*desk, error) {
	socket, self := filepath.Join(s.dir, "d"), ""
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	if self, err = os.Executable(); err != nil {
		return nil, err
	}
	d := &desk{stage: s, text: text, file: s.path("text")}
	if err := write(d.file, text); err != nil {
		return nil, err
	}
	if d.pane, err = s.open(ctx, "reader", self, "stand-in-reader", socket, fmt.Sprint(len(text))); err != nil {
		return nil, err
	}
	if d.conn, err = listener.Accept(); err != nil {
		return nil, err
	}
	d.output = bufio.NewScanner(d.conn)
	return d, d.expect("ready")
}

func (d *desk) expect(line string) error {
	if err := d.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if !d.output.Scan() || d.output.Text() != line {
		return fmt.Errorf("the program in the pane says %q, not %q (%v)", d.output.Text(), line, d.output.Err())
	}
	return nil
}

// arrived waits until the text has arrived, byte for byte.
func (d *desk) arrived() error { return d.expect(digest([]byte(d.text))) }

func (d *desk) byPaste(ctx context.Context) error { return d.pane.Paste(ctx, d.text) }

func (d *desk) byBuffer(ctx context.Context) error {
	if _, err := d.tmux(ctx, "load-buffer", "-b", "bench", d.file); err != nil {
		return err
	}
	_, err := d.tmux(ctx, "paste-buffer", "-p", "-r", "-d", "-b", "bench", "-t", d.pane.ID)
	return err
}

// byKeys needs pieces: tmux takes no more than 16 kB in one message.
func (d *desk) byKeys(ctx context.Context) error {
	const piece = 8000
	for rest := d.text; rest != ""; {
		n := min(piece, len(rest))
		for n < len(rest) && rest[n]&0xc0 == 0x80 { // not within a character
			n--
		}
		if _, err := d.tmux(ctx, "send-keys", "-t", d.pane.ID, "-l", "--", rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// launches measures what it costs to start a client by way of the launcher, when
// nothing is to be changed: against the client alone, which does nothing.
func launches(ctx context.Context, l *lab, r *report) error {
	const limit = 3.0
	empty, err := l.empty(ctx)
	if err != nil {
		return err
	}
	nothing, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	stopgate, err := l.installed(l.stopgate, "stopgate")
	if err != nil {
		return err
	}
	programs := []program{{name: "empty", dir: l.dir, args: []string{empty}}}
	rows := []string{"empty Go program"}
	for _, client := range []struct{ path, about string }{{empty, "it"}, {nothing, "`true`"}} {
		for _, mode := range []launchMode{plainly, supervised} {
			p, err := l.launch(ctx, stopgate, client.path, mode)
			if err != nil {
				return err
			}
			programs = append(programs, p)
			rows = append(rows, "stopgate claude p in front of "+client.about+", "+string(mode))
		}
	}
	if err := settle(ctx); err != nil {
		return err
	}
	s, err := l.race(ctx, 300, programs...)
	if err != nil {
		return err
	}
	r.table("**Starting a client** by way of the launcher, against an empty Go program")
	r.reference(rows[0], &s[0])
	for i := 1; i < len(s); i++ {
		r.row(rows[i], &s[i], figure{s[i].ratioTo(&s[0]), "times the empty program", limit})
	}
	return nil
}

type launchMode string

const (
	plainly    launchMode = "plain"
	supervised launchMode = "supervised"
)

// launch is a launch of the client from a home of its own, after one that has shown
// that the client is started, and has settled all that there was to settle.
func (l *lab) launch(ctx context.Context, stopgate, client string, mode launchMode) (program, error) {
	home, err := os.MkdirTemp(l.dir, "home-*")
	if err != nil {
		return program{}, err
	}
	p := program{
		name: "launch", dir: home, args: []string{stopgate, "claude", "p", "started"},
		env: []string{"HOME=" + home, "STOPGATE_STATE_DIR=" + filepath.Join(home, "state")},
	}
	if mode == supervised {
		p.env = append(p.env, "CCC_SUPERVISOR=1")
		p.wants = "[Supervisor Mode]"
	}
	for name, text := range map[string]string{
		"ccc.json": `{
  "providers": {
    "p": {"env": {"ANTHROPIC_BASE_URL": "http://localhost:1", "ANTHROPIC_AUTH_TOKEN": "$HOME"}}
  }
}
`,
		"settings.json": `{
  "model": "opus",
  "permissions": {"allow": ["Bash(make:*)", "Read"]},
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}
}
`,
	} {
		if err := write(filepath.Join(home, ".claude", name), text); err != nil {
			return program{}, err
		}
	}
	first := p
	first.env = append(first.env[:len(first.env):len(first.env)], "CCC_CLAUDE=echo")
	first.wants = "started"
	if _, _, err := l.run(ctx, first); err != nil {
		return program{}, err
	}
	p.env = append(p.env, "CCC_CLAUDE="+client)
	return p, nil
}

// empty is a Go program that does nothing.
func (l *lab) empty(ctx context.Context) (string, error) {
	source, built := l.path("empty/main.go"), l.path("empty/empty")
	if err := write(source, "package main\n\nfunc main() {}\n"); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", built, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", err
	}
	return l.installed(built, "empty")
}

// installed is a copy of a program, as people have it. What comes from the linker lies
// in the kernel's cache in small pages, and a large one takes a sixth longer to start.
func (l *lab) installed(from, name string) (string, error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	to := l.path(filepath.Join("bin", name))
	if err := write(to, string(text)); err != nil {
		return "", err
	}
	return to, os.Chmod(to, 0o700)
}

// write makes the file and its directories.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

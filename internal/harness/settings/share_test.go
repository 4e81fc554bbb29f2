package settings

import (
	"strings"
	"testing"
)

// However a hook calls another tool, it is known; one that does more is not taken for the tool's alone.
func TestIssue19HooksOfAnotherToolAreKnown(t *testing.T) {
	for line, want := range map[string]Share{
		"conclaude Stop":                                            AllTheirs,
		"/opt/my bin/conclaude Stop":                                PartTheirs, // it starts /opt/my
		"'/opt/my bin/conclaude' Stop":                              AllTheirs,
		`"$HOME/.cargo/bin/conclaude" Stop`:                         AllTheirs,
		`${CLAUDE_PROJECT_DIR}/bin/conclaude Stop`:                  AllTheirs,
		`C:/tools/conclaude.exe Stop`:                               AllTheirs,
		"conclaude.cmd Stop":                                        AllTheirs,
		"conclaude validate":                                        NotTheirs,
		"conclaude-not-here Stop":                                   NotTheirs,
		"echo conclaude":                                            NotTheirs,
		"cd $CLAUDE_PROJECT_DIR && conclaude Stop":                  AllTheirs,
		"conclaude Stop || true":                                    AllTheirs,
		"conclaude Stop || exit 0":                                  AllTheirs,
		"conclaude Stop 2>&1 >/dev/null":                            AllTheirs,
		"conclaude Stop &>/dev/null; exit 0":                        AllTheirs,
		"RUST_LOG=debug conclaude Stop":                             AllTheirs,
		"env -u A B='c d' conclaude Stop":                           AllTheirs,
		"exec conclaude Stop # the gate":                            AllTheirs,
		"timeout -k 5 60 nice -n 5 conclaude Stop":                  AllTheirs,
		"npx conclaude Stop":                                        AllTheirs,
		"npx --yes conclaude@latest Stop":                           AllTheirs,
		"npx -p conclaude conclaude Stop":                           AllTheirs,
		"npx @acme/conclaude@1.2 Stop":                              AllTheirs,
		"npm exec -- conclaude Stop":                                AllTheirs,
		"npm x conclaude -- Stop":                                   PartTheirs,
		"bunx conclaude Stop":                                       AllTheirs,
		"bun x conclaude Stop":                                      AllTheirs,
		"pnpm dlx conclaude Stop":                                   AllTheirs,
		"pnpm conclaude Stop":                                       AllTheirs,
		"pnpm --silent exec conclaude Stop":                         AllTheirs,
		"yarn dlx conclaude Stop":                                   AllTheirs,
		"mise x conclaude@1 -- conclaude Stop":                      AllTheirs,
		"asdf exec conclaude Stop":                                  AllTheirs,
		"direnv exec . conclaude Stop":                              AllTheirs,
		"nix run github:acme/conclaude -- Stop":                     AllTheirs,
		"nix run github:acme/tools#conclaude -- Stop":               AllTheirs,
		"sh -c 'conclaude Stop'":                                    AllTheirs,
		`bash -lc "cd web && npx conclaude Stop"`:                   AllTheirs,
		"if command -v conclaude; then conclaude Stop; fi":          AllTheirs,
		"command -v conclaude >/dev/null && conclaude Stop || true": AllTheirs,
		"[ -x bin/conclaude ] && bin/conclaude Stop":                AllTheirs,
		"(conclaude Stop)":                                          AllTheirs,
		"{ conclaude Stop; }":                                       AllTheirs,
		"cat | conclaude Stop":                                      AllTheirs,
		"conclaude \\\n  Stop":                                      AllTheirs,
		"conclaude Stop && ./mine.sh":                               PartTheirs,
		"./mine.sh; conclaude Stop":                                 PartTheirs,
		"conclaude Stop | tee log":                                  PartTheirs,
		"conclaude Stop && npm test":                                PartTheirs,
		"OUT=$(conclaude Stop); echo \"$OUT\"":                      PartTheirs,
		"echo \"$(conclaude Stop)\"":                                PartTheirs,
		"for i in 1 2; do conclaude Stop; done":                     PartTheirs,
		"node node_modules/conclaude/main.js Stop":                  PartTheirs,
		"./wrap.sh conclaude Stop":                                  PartTheirs,
		"eval 'conclaude Stop'":                                     PartTheirs,
		". ./env.sh; conclaude Stop":                                PartTheirs,
		nestedShells(4, "conclaude Stop"):                           AllTheirs,
		nestedShells(5, "conclaude Stop"):                           PartTheirs, // deeper than we read
		"conclaude Stop <<< x":                                      PartTheirs,
		"conclaude 'Stop":                                           PartTheirs,
		"echo conclaude Stop":                                       NotTheirs,
		"echo conclaude Stop > $(x)":                                PartTheirs,
		"cd ~/conclaude && ./say Stop":                              NotTheirs,
		"cd ~/conclaude && ./say $(x) Stop":                         PartTheirs,
		"printf 'conclaude Stop'":                                   NotTheirs,
		"conclaude.ps1 Stop":                                        AllTheirs,
		"conclaude.bat Stop":                                        AllTheirs,
		"nohup conclaude Stop":                                      AllTheirs,
		"time -o log conclaude Stop":                                AllTheirs,
		"setsid ionice -c 3 conclaude Stop":                         AllTheirs,
		"stdbuf -o L conclaude Stop":                                AllTheirs,
		"sudo -u me conclaude Stop":                                 AllTheirs,
		"doas -u me conclaude Stop":                                 AllTheirs,
		"pnpx conclaude Stop":                                       AllTheirs,
		"volta run conclaude Stop":                                  AllTheirs,
		"nix run 'github:acme/conclaude?ref=v1' -- Stop":            AllTheirs,
		"conclaude Stop `x`":                                        PartTheirs,
		"`conclaude Stop`":                                          PartTheirs,
		strings.Repeat(" ", maxLine) + "conclaude Stop":             PartTheirs, // it is not read
		"for t in conclaude; do $t Stop; done":                      PartTheirs,
		"alias c=conclaude; c Stop":                                 PartTheirs,
		"sh ./conclaude Stop":                                       AllTheirs,
		"npx -c 'conclaude Stop'":                                   PartTheirs,
		"npm exec -c 'conclaude Stop'":                              PartTheirs,
		"env -S 'conclaude Stop'":                                   PartTheirs,
		"(( $(conclaude Stop) ))":                                   PartTheirs,
		"conclaude Stop $((1 + 1))":                                 PartTheirs,
		"conclaude Stop <(x)":                                       PartTheirs,
		"conclaude Stop $'x'":                                       PartTheirs,
		"conclaude Stop ${x":                                        PartTheirs,
		"conclaude \"Stop":                                          PartTheirs,
		"time { conclaude Stop; }":                                  AllTheirs,
		"exec 2>log; conclaude Stop":                                AllTheirs,
		"flock -w 5 lock conclaude Stop":                            AllTheirs,
		"npm test":                                                  NotTheirs,
		"":                                                          NotTheirs,
	} {
		if got := (Entry{Command: line}).ShareOf("conclaude", isEvent); got != want {
			t.Errorf("%q: got %d, want %d", line, got, want)
		}
	}
	for _, e := range []Entry{
		{Command: "npx", Args: []string{"conclaude", "Stop"}},
		{Command: "bash", Args: []string{"-c", "conclaude Stop || true"}},
		{Command: "/opt/my bin/conclaude", Args: []string{"Stop"}},
	} {
		if got := e.ShareOf("conclaude", isEvent); got != AllTheirs {
			t.Errorf("%v: got %d", e, got)
		}
	}
	nested := "conclaude Stop"
	for range 6 {
		nested = ShellCommand("sh", "-c", nested)
	}
	if got := (Entry{Command: nested}).ShareOf("conclaude", isEvent); got != PartTheirs {
		t.Errorf("%q: got %d", nested, got)
	}
}

// A line of a megabyte is read in no time.
func TestIssue19AHugeHookIsRead(t *testing.T) {
	for _, part := range []string{"a ", "a;", "'", "sh -c ", "npx ", "A=b ", "conclaude ", "2>", "\\"} {
		line := strings.Repeat(part, (1<<20)/len(part))
		if got := (Entry{Command: line}).ShareOf("conclaude", isEvent); got == AllTheirs {
			t.Errorf("%q is a call", part)
		}
	}
}

// Whatever the line, reading it ends, and words are what a line has.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{"a b; c 'd' \"e\" | f >g 2>&1", "sh -c 'sh -c \"x\"'", "$", "\\", "'", "${", "a$(b)", "npx", "timeout", "nix run", "env A=b", "x <<E"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e := Entry{Command: line}
		all, _ := e.commands()
		for _, words := range all {
			if len(words) == 0 {
				t.Errorf("%q has a command without words", line)
			}
		}
		if share := e.ShareOf("conclaude", isEvent); share == AllTheirs && !strings.Contains(strings.NewReplacer("\\", "", "'", "", `"`, "").Replace(line), "conclaude") {
			t.Errorf("%q was taken for a call", line)
		}
	})
}

// nestedShells is a line that each of so many shells gives to the next one.
func nestedShells(depth int, line string) string {
	for range depth {
		line = "sh -c '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	}
	return line
}

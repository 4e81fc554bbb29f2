package shell

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/need"
)

// wordsOf are needs as the table below has them: kind, name, where it is looked for, and a
// question mark behind what only a run can tell.
func wordsOf(needs []need.Need) (all []string) {
	for _, n := range needs {
		text := n.Text
		if n.Kind != need.Program {
			text = string(n.Kind) + " " + text
		}
		if n.Shell != "sh" && n.Shell != "" {
			text = n.Shell + ": " + text
		}
		if n.Dir != "" {
			text += " in " + n.Dir
		}
		if n.Maybe {
			text += "?"
		}
		if n.Branch {
			text = "perhaps " + text
		}
		all = append(all, text)
	}
	return all
}

func TestE16WhatACommandNeeds(t *testing.T) {
	for line, want := range map[string][]string{
		"golangci-lint run":                   {"golangci-lint"},
		"  CGO_ENABLED=0 go test ./... ":      {"go"},
		"A=1 B='2 3' \"my linter\" -x":        {"my linter"},
		"make lint && make test":              {"make"},
		"./check.sh | tee log":                {"./check.sh", "tee"},
		"lint || true":                        {"lint", "perhaps true"},
		"lint 2>/dev/null >out && next":       {"lint", "next"},
		"> out lint":                          {"lint"},
		"! grep -r TODO .":                    {"grep"},
		"{ lint; }":                           {"lint"},
		"# only words\nlint # more\n":         {"lint"},
		"lint \\\n --flag && next":            {"lint", "next"},
		"li\\nt":                              {"lint"},
		"lint <<END\nnot a command\nEND":      {"lint"},
		"lint <<END\n$(made)\nEND":            {"lint", "made"},
		"lint & other":                        {"lint", "other"},
		"":                                    nil,
		"go vet ./... && staticcheck && echo": {"go", "staticcheck", "echo"},

		// What a condition decides about may not be meant to run.
		"lint || fallback":                            {"lint", "perhaps fallback"},
		"if true; then nosuch; fi":                    {"true", "perhaps nosuch"},
		"if lint; then x; elif y; then z; else w; fi": {"lint", "perhaps x", "perhaps y", "perhaps z", "perhaps w"},
		"while lint; do x; done":                      {"lint", "perhaps x"},
		"for f in $(list); do lint $f; done":          {"list", "perhaps lint"},
		"case $x in a) lint;; esac":                   {"perhaps lint"},
		"[ -x lint ] && lint":                         {"[", "lint?"},
		"test -f go.mod && go vet":                    {"test", "perhaps go"},
		"command -v lint >/dev/null || exit 0; lint":  {"command", "perhaps exit", "lint?"},
		"which lint && lint":                          {"which", "lint?"},

		// Substitutions.
		`test -z "$(nosuch -l .)"`:   {"nosuch", "test"},
		"x=`nosuch`":                 {"nosuch"},
		"diff <(a) b":                {"a", "diff"},
		"echo ${x:-$(nosuch)}":       {"nosuch", "echo"},
		"(cd x; ./lint); ./lint":     {"cd", "./lint in x", "./lint?"},
		"x=$(cd a && ./b) && ./lint": {"cd", "./b in a", "./lint?"},

		// Wrappers.
		"timeout 5 nosuch":                          {"timeout", "nosuch"},
		"timeout -k 5 --signal=KILL $LIMIT nosuch":  {"timeout", "nosuch"},
		"nice -n 5 nosuch":                          {"nice", "nosuch"},
		"nice -5 nosuch":                            {"nice", "nosuch"},
		"exec env A=1 nohup lint":                   {"exec", "env", "nohup", "lint"},
		"env -i -u HOME A=1 lint":                   {"env", "lint"},
		"time lint":                                 {"time", "lint"},
		"stdbuf -oL -e 0 lint":                      {"stdbuf", "lint"},
		"git ls-files | xargs -0 -n 1 nosuch -x":    {"git", "xargs", "nosuch"},
		"command -p lint":                           {"command", "lint"},
		"sudo -u nobody A=1 -- lint":                {"sudo", "lint"},
		"flock /tmp/lock timeout 5 lint":            {"flock", "timeout", "lint"},
		"find . -name '*.go' -exec nosuch -l {} +":  {"find", "nosuch"},
		"find . -exec bash -n {} + -o -exec {} \\;": {"find", "bash", "riddle {}?"},
		"find . -exec python3 x/{} \\;":             {"find", "python3"},
		"ls | xargs -I{} sh {}":                     {"ls", "xargs", "sh"},
		"env -C web ./lint && ./x":                  {"env", "riddle ./lint?", "./x?"},
		"exec 3>&1":                                 {"exec"},
		"watch -n 1 lint":                           {"watch", "lint"},
		"chroot /srv lint":                          {"chroot"},
		"busybox vi":                                {"busybox"},
		"parallel lint ::: a":                       {"parallel"},
		"/usr/bin/env lint":                         {"/usr/bin/env", "lint"},

		// Shells in shells.
		`bash -c "cd src && nosuch ."`:          {"bash", "bash: cd", "bash: nosuch"},
		`bash -euo pipefail -c 'shopt -s x; a'`: {"bash", "bash: shopt", "bash: a"},
		`bash -lc nosuch`:                       {"bash", "bash: nosuch?"},
		`sh -c 'sh -c "nosuch"'`:                {"sh", "nosuch"},
		`sh -c "$SCRIPT"`:                       {"sh", `riddle "$SCRIPT"?`},
		"curl x | sh":                           {"curl", "sh", "riddle sh without a file?"},
		"sh .gauntlet/missing.sh --fast":        {"sh", "file .gauntlet/missing.sh"},
		"bash -x -o pipefail scripts/a.sh":      {"bash", "file scripts/a.sh"},
		"cd a && sh b.sh && sh c.sh":            {"cd", "sh", "file b.sh in a", "file c.sh in a?"},

		// Interpreters.
		"python3 missing.py":                  {"python3", "file missing.py"},
		"python3.12 -W error -u tools/a.py x": {"python3.12", "file tools/a.py"},
		"python3 -m pytest":                   {"python3"},
		"python3 -c 'print(1)'":               {"python3"},
		"node --require ./setup.js check.js":  {"node", "file check.js"},
		"node --test test/":                   {"node"},
		"node --eval=1":                       {"node"},
		"ruby -Ilib -r x a.rb":                {"ruby", "file a.rb"},
		"perl -ne 'print' a":                  {"perl"},
		"npm run build && node dist/check.js": {"npm", "node", "file dist/check.js?"},

		// The project's packages.
		"npx nosuch":                    {"npx", "tool nosuch?"},
		"npx --yes -p pkg nosuch@1.2 .": {"npx", "tool nosuch?"},
		"npm exec -- nosuch":            {"npm", "tool nosuch?"},
		"npm test":                      {"npm"},
		"cd web && pnpm exec eslint":    {"cd", "pnpm", "tool eslint in web?"},
		"uv run --with x pytest":        {"uv", "tool pytest?"},
		"bundle exec rspec":             {"bundle", "tool rspec?"},

		// Directories.
		"cd web && npm test && ./x && /bin/y": {"cd", "npm", "./x in web?", "/bin/y?"},
		"cd web && ./x":                       {"cd", "./x in web"},
		"cd a; cd ../b/; ./x":                 {"cd", "./x in b"},
		"cd /srv && ./x":                      {"cd", "./x in /srv"},
		`cd "$(git rev-parse --show-toplevel)" && ./x && lint`: {"git", "cd", "riddle ./x?", "lint"},
		"if a; then cd b; fi; ./x":                             {"a", "perhaps cd", "riddle ./x?"},

		// What cannot be told.
		"$LINT run":                      {"riddle $LINT?"},
		`"$BIN/lint" run`:                {`riddle "$BIN/lint"?`},
		"`which lint` run":               {"which", "riddle `which lint`?"},
		"node_modules/.bin/*lint":        {"riddle node_modules/.bin/*lint?"},
		"eval lint":                      {"eval", "riddle eval?"},
		"'open":                          {"riddle 'open?"},
		"~/bin/lint":                     {"/home/me/bin/lint"},
		"\"$HOME/bin/lint\" run":         {"/home/me/bin/lint"},
		"${HOME%/}/lint":                 {"riddle ${HOME%/}/lint?"},
		"~root/lint":                     {"riddle ~root/lint?"},
		"PATH=$PWD/bin:$PATH lint; next": {"lint?", "next"},
		"export PATH=bin:$PATH; lint":    {"export", "lint?"},
		". ./env.sh && lint":             {".", "file ./env.sh", "lint?"},
		"f() { lint; }; f":               {"perhaps lint"},
		"f() { cd x; }; f; ./y":          {"perhaps cd", "riddle ./y?"},
		"[[ -f a ]] && lint":             {"[[", "perhaps lint"},
		"a=(1 2); lint ${a[0]}":          {"lint"},
	} {
		if got := wordsOf(withoutManifests(Needs(line, "/home/me"))); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// withoutManifests leaves out what TestE16WhatTaskRunnersNeed looks at.
func withoutManifests(needs []need.Need) []need.Need {
	return slices.DeleteFunc(needs, func(n need.Need) bool { return n.Kind == need.Manifest || n.Kind == need.Task })
}

func FuzzNeeds(f *testing.F) {
	f.Add("A=1 'b c' && (d) 2>&1 | e\\")
	f.Add("sh -c 'bash -c \"npx $x\"'; cd a; timeout -k 5 $(b) python3 -W x")
	f.Fuzz(func(_ *testing.T, line string) { Needs(line, "/home/me") })
}

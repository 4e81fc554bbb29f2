package shell

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/need"
)

// manifestsOf are the needs of a line beside programs: the kind, the text and where it is looked for.
func manifestsOf(line string) (all []string) {
	for _, n := range Needs(line, "/home/me") {
		if n.Kind == need.Program {
			continue
		}
		text := wordsOf([]need.Need{n})[0]
		if n.Up {
			text += " or above"
		}
		all = append(all, text)
	}
	return all
}

func TestE16WhatTaskRunnersNeed(t *testing.T) {
	lint := []string{"manifest Makefile", "task make lint?"}
	npm := []string{"manifest package.json or above", "task npm run lint? or above"}
	for line, want := range map[string][]string{
		"make":                                    {"manifest Makefile"},
		"make lint":                               lint,
		"/usr/bin/make lint":                      lint,
		"gmake -j4 -s lint":                       {"manifest Makefile", "task gmake lint?"},
		"make -j 4 --no-print-directory lint":     lint,
		"make V=1 lint":                           lint,
		"timeout 5 make lint":                     lint,
		"make lint test":                          {"manifest Makefile", "task make lint?", "task make test?"},
		"make bin/tool":                           {"manifest Makefile"},
		"make lint && make test":                  {"manifest Makefile", "task make lint?", "task make test?"},
		"cd web && make lint":                     {"manifest Makefile in web", "task make lint in web?"},
		"make -C web lint":                        {"manifest Makefile in web", "task make lint in web?"},
		"make -sC web -Capp lint":                 {"manifest Makefile in web/app", "task make lint in web/app?"},
		"make --directory=/srv lint":              {"manifest Makefile in /srv", "task make lint in /srv?"},
		"make -f build.mk lint":                   {"file build.mk"},
		"make lint --file=build.mk -C web -fb.mk": {"file build.mk in web", "file b.mk in web"},
		"(make -C web lint); make lint":           {"manifest Makefile in web", "task make lint in web?", "manifest make lint?", "task make lint?"},
		"npm run lint":                            npm,
		"npm run lint -- --fix $FILES":            npm,
		"npm test":                                {"manifest package.json or above", "task npm test? or above"},
		"npm run":                                 {"manifest package.json or above"},
		"pnpm run lint":                           {"manifest package.json or above", "task pnpm run lint? or above"},
		"yarn lint":                               {"manifest package.json or above"},
		"just":                                    {"manifest justfile or above"},
		"just lint a":                             {"manifest justfile or above"},
		"task lint":                               {"manifest Taskfile.yml or above"},
		"cargo +nightly clippy --all-targets -- -D warnings": {"manifest Cargo.toml or above"},
		"CGO_ENABLED=0 go test -race ./...":                  {"manifest go.mod or above"},
		"go vet":                                             {"manifest go.mod or above"},
		"mvn -q -B clean verify":                             {"manifest pom.xml or above"},
		"./gradlew check --no-daemon":                        {"manifest build.gradle or above"},

		// What cannot be told for certain.
		"go generate ./... && make lint":    {"manifest make lint?", "task make lint?"},
		". ./env.sh; make lint":             {"file ./env.sh", "manifest make lint?", "task make lint?"},
		"[ -n \"$CI\" ] || make lint":       {"manifest make lint?", "task make lint?"},
		"if lint; then npm test; fi":        {"manifest npm test? or above", "task npm test? or above"},
		"[ -f Makefile ] && make lint":      nil,
		"[ -f a/go.mod ] && cd a && go vet": nil,

		// Words that may name another file, or that do without one.
		"make -C \"$DIR\" lint":     nil,
		"make $TARGET":              nil,
		"make -C":                   nil,
		"make -f - lint":            nil,
		"make --version":            nil,
		"make --eval='lint:' lint":  nil,
		"make --dir=web lint":       nil,
		"npm --prefix web run lint": nil,
		"npm run lint -w app":       nil,
		"npm --version":             nil,
		"npm ci":                    nil,
		"npm exec -- eslint":        {"tool eslint?"},
		"pnpm -r test":              nil,
		"pnpm lint":                 nil,
		"yarn --cwd web test":       nil,
		"bun run lint":              nil,
		"just -f x lint":            nil,
		"just web/lint":             nil,
		"task -d web lint":          nil,
		"cargo test --manifest-path x/Cargo.toml": nil,
		"cargo install x":                         nil,
		"go test -C web ./...":                    nil,
		"go vet main.go":                          nil,
		"go test fmt":                             nil,
		"go version":                              nil,
		"mvn -f web/pom.xml verify":               nil,
		"mvn dependency:get":                      nil,
		"gradle -p web check":                     nil,
		"gradle init":                             nil,

		// Other places.
		`cd "$(git rev-parse --show-toplevel)" && make lint`: nil,
		"env -C web make lint":                               nil,
		"env --chdir=web npm test":                           nil,
		"sudo -D web make lint":                              nil,
		"ls | xargs go vet":                                  nil,
		"ls -d */ | xargs -n 1 make lint -C":                 nil,
		"find . -name go.mod -execdir go vet ./... \\;":      nil,
		"find . -name Makefile -exec make -f {} lint \\;":    nil,
		"make() { true; }; make lint":                        nil,
	} {
		if got := manifestsOf(line); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

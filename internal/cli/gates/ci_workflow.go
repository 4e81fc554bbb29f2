package gates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// workflow is the GitHub Actions workflow of a project.
type workflow struct {
	ci      *config.CI
	release string // that CI installs
	base    string // the base branch of the configuration; may be empty
	folder  string // the project's, below the top of the repository
}

// runtimeActions install the runtimes that have an action of their own; the value
// is the name of its input for the version.
var runtimeActions = []struct{ runtime, action, version string }{
	{"bun", "oven-sh/setup-bun@v2", "bun-version"},
	{"go", "actions/setup-go@v5", "go-version"},
	{"node", "actions/setup-node@v4", "node-version"},
	{"python", "actions/setup-python@v5", "python-version"},
	{"ruby", "ruby/setup-ruby@v1", "ruby-version"},
}

func (w workflow) unknownRuntimes() []string {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(w.ci.Runtimes)) {
		if !slices.ContainsFunc(runtimeActions, func(a struct{ runtime, action, version string }) bool { return a.runtime == name }) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// yaml is the workflow: one job finds out what there is to run, and a matrix of
// others runs it. What ci.yml and the checks say is read when the workflow runs,
// but for services, which GitHub wants to know beforehand. Commands go through the
// environment, so that nothing in them is taken for a part of the workflow.
func (w workflow) yaml() string {
	branch := strings.TrimPrefix(w.base, "origin/")
	if branch == "" {
		branch = "main"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `name: gauntlet

on:
  push:
    branches: [%[1]s]
  pull_request:

permissions:
  contents: read

defaults:
  run:
    shell: bash
    working-directory: %[2]s

jobs:
  discover:
    runs-on: ubuntu-latest
    outputs:
      matrix: ${{ steps.jobs.outputs.matrix }}
      runtimes: ${{ steps.jobs.outputs.runtimes }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with:
          go-version: stable
      - run: go install github.com/stopgate/stopgate/cmd/stopgate@%[7]s
      - id: jobs
        run: |
          jobs=$(stopgate ci list-jobs)
          echo "matrix=$(jq -c .matrix <<<"$jobs")" >>"$GITHUB_OUTPUT"
          echo "runtimes=$(jq -c .runtimes <<<"$jobs")" >>"$GITHUB_OUTPUT"

  checks:
    needs: discover
    if: needs.discover.outputs.matrix != '[]'
    name: ${{ matrix.job.name }} (${{ matrix.job.entry_point }})
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        job: ${{ fromJSON(needs.discover.outputs.matrix) }}
%[3]s    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
%[4]s      - name: Set up
        if: matrix.job.global_setup != ''
        env:
          SCRIPT: ${{ matrix.job.global_setup }}
        run: bash -euo pipefail -c "$SCRIPT"
      - name: Set up the check
        if: matrix.job.setup != ''
        env:
          SCRIPT: ${{ matrix.job.setup }}
        run: bash -euo pipefail -c "$SCRIPT"
      - name: Check
        working-directory: %[5]s
        env:
          BASE_BRANCH: %[6]s
          SCRIPT: ${{ matrix.job.command }}
        run: sh -c "$SCRIPT"
`, flow(branch), flow(filepath.ToSlash(w.folder)), w.services(), w.runtimes(),
		flow(filepath.ToSlash(w.folder)+"/${{ matrix.job.working_directory }}"),
		flow("origin/"+branch), w.release)
	return b.String()
}

var aRelease = lazyregexp.New(`^v\d+\.\d+\.\d+$`)

// releaseOf is what a workflow installs: this very version if it is a release, else the latest one.
func releaseOf(version string) string {
	if aRelease.Get().MatchString(version) {
		return version
	}
	return "latest"
}

// runtimes are the steps that install what a check asks for.
func (w workflow) runtimes() string {
	var b strings.Builder
	for _, a := range runtimeActions {
		if _, used := w.ci.Runtimes[a.runtime]; used {
			fmt.Fprintf(&b, "      - uses: %s\n        if: contains(matrix.job.runtimes, '%s')\n        with:\n          %s: ${{ fromJSON(needs.discover.outputs.runtimes).%s.version }}\n",
				a.action, a.runtime, a.version, a.runtime)
		}
	}
	return b.String()
}

// services start only for the checks that ask for them: one without an image is
// left out by GitHub.
func (w workflow) services() string {
	if len(w.ci.Services) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("    services:\n")
	for _, name := range slices.Sorted(maps.Keys(w.ci.Services)) {
		service := maps.Clone(w.ci.Services[name])
		if image, ok := service["image"].(string); ok {
			service["image"] = fmt.Sprintf("${{ contains(matrix.job.services, %s) && %s || '' }}", expression(name), expression(image))
		}
		fmt.Fprintf(&b, "      %s: %s\n", flow(name), flow(service))
	}
	return b.String()
}

// flow writes a value as JSON, which is YAML too and needs no rules for what to
// quote.
func flow(v any) string {
	text, err := rawjson.Marshal(v)
	if err != nil {
		panic(err) // what came from YAML always encodes
	}
	return string(text)
}

// expression is a text in a GitHub expression.
func expression(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

const stampWords = "# Written by stopgate ci init. Once it is changed by hand, it is kept. sha256:"

// stamp lets us know our own file again as long as nobody changes it.
func stamp(body string) []byte { return []byte(stampWords + digest(body) + "\n" + body) }

func isStamped(content []byte) bool {
	text := strings.ReplaceAll(string(content), "\r\n", "\n") // as git may have checked it out
	first, body, whole := strings.Cut(text, "\n")
	return whole && first == stampWords+digest(body)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

# Three commands matter: make run, make test, make bench.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
PROGRAM := github.com/stopgate/stopgate/internal/sys/program
LDFLAGS := -s -w -X $(PROGRAM).version=$(VERSION) -X $(PROGRAM).commit=$(COMMIT)
BUILD   := $(GO) build -ldflags '$(LDFLAGS)'

# No part of the program is C, and the tests look at what is shipped. The race detector alone
# needs it.
export CGO_ENABLED = 0

# Build results do not depend on where the clone lies, so all clones share the build cache.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

# Compilers and linters end soon: a quarter of their time goes if they keep their garbage.
KEEP := GOGC=off GOMEMLIMIT=2GiB

# Only ends a test that hangs. The slowest package (e2e) took 51 minutes at 20 times the load.
TIMEOUT := 60m

# Set-up comes before what needs it.
.NOTPARALLEL:

.PHONY: build install uninstall run test format check unit e2e cross wine test-site packages bench test-environments test-programs fuzz simulate chaos chaos-agents chaos-fleet powerloss powerloss-boot stress pictures site release generate setup clean

# Copied after linking: what the linker writes lies in the page cache in small
# pages, and starts a sixth slower until the machine is booted again.
build: ## bin/stopgate and bin/stopgated, static
	@mkdir -p bin
	$(BUILD) -o bin/linked/ ./cmd/stopgate ./cmd/stopgated
	@cd bin && for program in stopgate stopgated; do cp linked/$$program .$$program && mv .$$program $$program; done && rm -r linked

# Under sudo nothing is built: root often has no Go, and what it builds is not the user's to clean.
PREFIX ?= /usr/local
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
install: export LINKS := $(LINKS)
install: ## to PREFIX/bin (/usr/local/bin); LINKS=1 adds the names ccc and oj
	@{ [ -n "$$SUDO_USER" ] && [ -x bin/stopgated ]; } || $(MAKE) --no-print-directory build
	@scripts/install install bin

uninstall: ## removes what install made
	@scripts/install uninstall

run: build ## a small fleet on a throw-away project, with a daemon of its own
	@bin/stopgate demo

# The tests wait a good deal, those with the real client most: they run beside the others, then those
# on Wine; and so do lint, the other systems and the site, at the lowest priority. What all of them need is compiled
# before, or each would do it; what they need beside Go is installed meanwhile. A failure of one does not hide those of the others.
test: ## everything CI runs
	@$(KEEP) $(GO) build -o /dev/null ./cmd/... & compiling=$$!; \
	$(MAKE) --no-print-directory setup format && wait $$compiling
	@nice -n 19 $(MAKE) --no-print-directory --keep-going check cross test-site > beside.log 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory --keep-going e2e wine > clients.log 2>&1 & clients=$$!; \
	$(MAKE) --no-print-directory unit; code=$$?; \
	wait $$clients || code=1; cat clients.log; \
	wait $$beside || code=1; cat beside.log; exit $$code

setup: ## what the tests need: tmux, git, npm, the pinned client
	@scripts/setup-tests

format: ## told first: it takes a second
	@unformatted=$$($(KEEP) $(GO) tool -modfile=tools/go.mod gofumpt -l cmd internal packaging test); \
	if [ -n "$$unformatted" ]; then echo "gofumpt would change:"; echo "$$unformatted"; exit 1; fi

check: format ## vet and lint
	$(KEEP) $(GO) vet ./...
	$(KEEP) $(GO) tool -modfile=tools/go.mod staticcheck ./...

# A test that cannot run fails.
unit e2e: export STOPGATE_TESTS = require

# check has vetted everything, or will. The tests run in the worst environment that we know of, and
# what they build is what everybody builds. Those that take longest begin first, and one more
# package is tested at once than there are cores: they wait a good deal. Linking takes a quarter
# without what debuggers need, and a program with the race detector does not sleep for a second
# before it ends. Long tests of one goroutine run without it, in a tenth of the time, and so do those
# that only start programs: it would look at the tests alone.
UNIT := -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -timeout $(TIMEOUT) -vet=off -ldflags='-s -w' \
	  -exec 'env -u GOGC -u GOMEMLIMIT CGO_ENABLED=0 GORACE=atexit_sleep_ms=0 "$(CURDIR)/scripts/in-environment" all'
OUR_CODE := -e /cmd/ -e /internal/ -e /packaging/ -e /test/bench -e /test/powerloss
unit: ## unit, script and fuzz-seed tests, those of our own code under the race detector
	$(KEEP) scripts/in-memory $(GO) test $(UNIT) $$(scripts/unraced); code=$$?; \
	$(KEEP) scripts/in-memory $(GO) test $(UNIT) -parallel $$((2 * $$(getconf _NPROCESSORS_ONLN))) $$($(GO) list ./test/conformance ./test/web ./test/... | grep -v $(OUR_CODE) | grep -v '/test/e2e$$') || code=1; \
	CGO_ENABLED=1 $(KEEP) scripts/in-memory $(GO) test -race $(UNIT) \
	  $$($(GO) list ./internal/cli ./internal/gate/stop ./internal/agents/errand ./test/... ./cmd/... ./internal/... ./packaging/... | grep $(OUR_CODE)) \
	  && exit $$code

test-site: ## the site can be built
	@scripts/test-site

# Three clients per core: they wait a good deal, some of them for a minute.
e2e: ## tests with the real client; none may be skipped
	scripts/in-memory $(GO) test -count=1 -parallel $$((3 * $$(getconf _NPROCESSORS_ONLN))) -timeout $(TIMEOUT) -v ./test/e2e > e2e.log 2>&1 || { cat e2e.log; exit 1; }
	@grep -E '^(--- |ok|PASS|FAIL)' e2e.log; \
	if grep -q -- '--- SKIP' e2e.log; then echo "an e2e test was skipped"; exit 1; fi

# Each system and each processor once: the rest differ in nothing of ours, so it is enough that what they need is
# there; a release compiles them all. Not optimised and not for debuggers, except for this system, for which there is
# a build already: from nothing it takes half. For Windows that is stopgate alone: stopgated needs Unix.
cross: ## compiles everywhere
	@here=$$($(GO) env GOHOSTOS)/$$($(GO) env GOHOSTARCH); \
	for platform in linux/amd64 darwin/arm64 windows/amd64; do \
	  echo "$$platform"; \
	  flags='all=-N -l -dwarf=false'; [ "$$platform" != "$$here" ] || flags=; \
	  $(KEEP) GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -gcflags="$$flags" -ldflags='-s -w' -o /dev/null ./cmd/... || exit 1; \
	done; \
	for platform in linux/arm64 darwin/amd64 windows/arm64; do \
	  echo "$$platform: what it needs"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) list -deps ./cmd/... > /dev/null || exit 1; \
	done

wine: ## what stopgate does on Windows, run by Wine
	@GO="$(GO)" scripts/wine

# A directory of its own: what is in dist is what a release publishes.
packages: ## dist: archives, deb, rpm, npm, Homebrew, checksums; PLATFORMS=linux/amd64 makes only those
	@rm -rf dist
	$(GO) run ./packaging/release -version "$(VERSION)" -commit "$(COMMIT)" -date "$$(git log -1 --format=%ct)" -platforms "$(PLATFORMS)" dist

bench: build ## start-up, hooks and gates beside the programs they must keep up with
	@scripts/bench bin/stopgate
	@scripts/bench-gauntlet bin/stopgate
	@scripts/bench-supervisor bin/stopgate
	@scripts/bench-session bin/stopgate
	@scripts/bench-plane bin/stopgate
	@scripts/bench-fleet bin/stopgate

PACKAGES ?= ./...
test-environments: setup ## the tests of PACKAGES in each environment of scripts/in-environment, and as another user
	@scripts/test-environments $(PACKAGES)

test-programs: build ## sudo, podman, Chromium and others as gates; for a container, as root
	@scripts/test-programs bin/stopgate

FUZZTIME ?= 10m
fuzz: ## each fuzzer for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

simulate: ## thousands of agents and a daemon that crashes; SEED=… AGENTS=… replays a day
	@scripts/simulate "$(SEED)" $(AGENTS)

chaos: ## the real daemon, killed a hundred times under fifty pipelines; SEED=… chooses the moments alike
	@scripts/chaos "$(SEED)"

chaos-agents: ## twenty real clients, killed with their tmux and the daemon; CLAUDE_BIN=none takes stand-ins
	@scripts/chaos-agents "$(SEED)"

powerloss: ## a machine that loses its power at every flush of its disk; as root, with QEMU; POWERLOSS_SEED=…, POWERLOSS_IMAGES=…
	@GO="$(GO)" scripts/powerloss

powerloss-boot: ## a machine with systemd that is restarted and loses its power; as root, with QEMU
	@GO="$(GO)" scripts/powerloss-boot

chaos-fleet: ## three machines with hubs, cut, killed and paused a hundred times under jobs; FLEET_SEED=… repeats the faults
	@scripts/chaos-fleet "$(FLEET_SEED)"

stress: ## the suite ROUNDS times beside LOAD busy processes; stops at the first failure
	@scripts/stress "$(ROUNDS)" "$(LOAD)"

# CI does not record; it checks that the pictures show what the program says.
pictures: setup ## docs/pictures: the real client and the commands, recorded in a terminal
	$(GO) test ./test/pictures -count=1 -update
	@scripts/web-pictures

site: ## README and docs/ as web pages, in site/
	@scripts/site

release: ## commits and tags VERSION, with what CHANGELOG.md says is new
	@scripts/release "$(VERSION)"

generate: ## schemas
	$(GO) generate ./...

clean:
	rm -rf bin dist site tools/site/pages e2e.log clients.log beside.log stress.log

# Three commands matter: make run, make test, make bench.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X github.com/stopgate/stopgate/internal/cli.version=$(VERSION)
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'

# Set-up comes before what needs it.
.NOTPARALLEL:

.PHONY: build run test check unit e2e cross bench fuzz simulate chaos generate setup clean

# Copied after linking: what the linker writes lies in the page cache in small
# pages, and starts a sixth slower until the machine is booted again.
build: ## bin/stopgate and bin/stopgated, static
	@mkdir -p bin
	$(BUILD) -o bin/linked/ ./cmd/stopgate ./cmd/stopgated
	@cd bin && for program in stopgate stopgated; do cp linked/$$program .$$program && mv .$$program $$program; done && rm -r linked

run: build ## the main job, told line by line on a throw-away project
	@scripts/demo bin/stopgate

# The tests with the client mostly wait: meanwhile lint and the other systems are seen to, at
# the lowest priority. One after the other it is five minutes more on two cores.
test: setup unit ## everything CI runs
	@nice $(MAKE) --no-print-directory check cross > beside.log 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory e2e; code=$$?; \
	wait $$beside || code=1; cat beside.log; exit $$code

setup: ## what the tests need: tmux, git, npm, the pinned client
	@scripts/setup-tests

check: ## vet and lint
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	@unformatted=$$($(GO) tool -modfile=tools/go.mod gofumpt -l cmd internal test); \
	if [ -n "$$unformatted" ]; then echo "gofumpt would change:"; echo "$$unformatted"; exit 1; fi

# check has vetted everything, or will.
unit: ## unit, script and fuzz-seed tests under the race detector
	$(GO) test -race -vet=off $$($(GO) list ./... | grep -v /test/e2e)

e2e: ## tests with the real client; none may be skipped
	STOPGATE_E2E=require $(GO) test -count=1 -timeout 10m -v ./test/e2e > e2e.log 2>&1 || { cat e2e.log; exit 1; }
	@grep -E '^(--- |ok|PASS|FAIL)' e2e.log; \
	if grep -q -- '--- SKIP' e2e.log; then echo "an e2e test was skipped"; exit 1; fi

# Not optimised: from nothing it takes a third less, most of it for SQLite.
cross: ## compiles everywhere
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
	  echo "$$os/$$arch"; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -gcflags='all=-N -l' -o /dev/null ./cmd/... || exit 1; \
	done; done

bench: build ## start-up, hooks and gates beside the programs they must keep up with
	@scripts/bench bin/stopgate
	@scripts/bench-gauntlet bin/stopgate
	@scripts/bench-supervisor bin/stopgate
	@scripts/bench-session bin/stopgate
	@scripts/bench-plane bin/stopgate

FUZZTIME ?= 10m
fuzz: ## each fuzzer for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

simulate: ## thousands of agents and a daemon that crashes; SEED=… AGENTS=… replays a day
	@scripts/simulate "$(SEED)" $(AGENTS)

chaos: ## the real daemon, killed a hundred times under fifty pipelines; SEED=… chooses the moments alike
	@scripts/chaos "$(SEED)"

generate: ## schemas
	$(GO) generate ./...

clean:
	rm -rf bin e2e.log beside.log

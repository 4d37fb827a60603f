# Nexus. `make help` lists what there is to make.

SHELL := bash
GO    ?= go

GOLANGCI_VERSION := 2.15.0
GOLANGCI         := bin/golangci-lint-$(GOLANGCI_VERSION)
export GOLANGCI_LINT_CACHE ?= $(CURDIR)/bin/.golangci-cache

GREMLINS_VERSION := 0.6.0

GOVULNCHECK_VERSION := 1.9.0
GOVULNCHECK         := bin/govulncheck-$(GOVULNCHECK_VERSION)
# The database of vulnerabilities, or file:// and a folder of its entries.
VULNDB ?= https://vuln.go.dev

# What a fuzz target gets, and what go test is given besides.
FUZZTIME  ?= 10s
TESTFLAGS ?=
# Which packages the race detector runs.
RACED ?= ./...
# Which packages run their long form; by default all that have one.
LONG ?= $$(git grep -l '"nexus/internal/long"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
# Which benchmarks, how often each, and for how long or how many times.
BENCH     ?= .
COUNT     ?= 1
BENCHTIME ?= 1s
# The size of the largest table, in items: a million takes some minutes and 10 GB of memory.
SCALE ?= 100000
# How many random histories, from which seed on, and of how many steps.
SEEDS ?= 10000
FROM  ?= 0
STEPS ?= 100
# Which commit is the release before; by default the one of internal/simulate/beside.
BEFORE ?=
# How many random histories of two devices the client for browsers plays; of each planted mistake ten times as many.
# Of how many users two devices are played on a running system, and how many changes are timed from one screen to another.
HISTORIES ?= 400
USERS     ?= 8
CHANGES   ?= 100
# Where the pictures of the console go; bin/console if it is not given.
PICTURES ?=
# How long each kind of request is asked for, and what the load is told besides its defaults: -users, -items, -series,
# -clients.
LOADTIME  ?= 60s
LOADFLAGS ?=
PLANTEDFLAGS ?=
CENSUSFLAGS  ?=
# Which package under pkg is mutated, whose tests are to notice besides its own, and how many histories are played.
PKG         ?= consume
MUTANTTESTS ?=
MUTANTSEEDS ?= 1000
# Which mutants alone, by file:line:column and type, such as '^hold\.go:'.
MUTANTONLY  ?=
MUTANTS      = bin/mutants-$(subst /,-,$(PKG)).json
# How many mutants are tested at a time.
WORKERS ?= 2
# Which deployment (a member of "stages" in cdk.json), and what the CDK is told besides, such as -c issuer=https://...
STAGE    ?= dev
CDKFLAGS ?=
# 1 says that a reviewer has read what would change: the CDK then asks no more.
APPROVED ?=

# One line for a module that go.mod asks for and that has a newer version, that its authors withdrew, or that is not found.
NEWER := {{if not .Main}}{{if and .Update (not .Indirect)}}{{.Path}} {{.Version}}, newest {{.Update.Version}}{{end}}\
{{with .Deprecated}} DEPRECATED {{$$.Path}}: {{.}}{{end}}{{if .Retracted}} RETRACTED {{.Path}} {{.Version}}{{end}}\
{{with .Error}} NOT FOUND {{$$.Path}}: {{printf "%q" .Err}}{{end}}{{end}}

.DEFAULT_GOAL := help
.PHONY: help dev demo test deployed clients browser console jsclient race second-engine soak interleave lint fuzz sim beside planted census mutants bench scale load engine icaljs httpece webhookreaders calendars libical zones vendor build notice bom package synth bootstrap diff preflight deploy smoke cdk infra checksums vulnerabilities updates clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: engine build ## run the whole system on this machine, data in .nexus
	bin/nexus dev --data .nexus

demo: engine ## play one user's week through a system of its own and check every effect
	$(GO) run ./cmd/nexus demo

test: engine icaljs httpece webhookreaders ## run every test; says how many ran (TESTFLAGS)
	$(GO) run ./internal/testreport $(TESTFLAGS) ./...

long: engine ## run the tests that have a long form, in that form (LONG, TESTFLAGS)
	NEXUS_LONG=1 $(GO) run ./internal/testreport -timeout 30m $(TESTFLAGS) $(LONG)

second-engine: ## run the functions on Amazon's DynamoDB Local, where Java is; its license asks for an AWS account (TESTFLAGS)
	@$(GO) run ./internal/tools/secondengine $(TESTFLAGS)

deployed: engine synth ## run the synthesized prod stack on the local engine: its wiring, rights, faults, kills, a recount (TESTFLAGS)
	NEXUS_TEMPLATE=$(CURDIR)/cdk.out/nexus-prod.template.json $(GO) test -count=1 -timeout 10m -v -run workAsTheTemplateWiresThem $(TESTFLAGS) ./functions/e2e

clients: ## lint the OpenAPI document, generate clients of it, and play a flow with each through a validating proxy
	@internal/clients/run

browser: engine ## call a running system from pages in Chromium, and play the example of clients/js on two (CHROMIUM, CHANGES)
	@internal/clients/browse
	@clients/js/run browser $(CHANGES)

console: engine ## use the console of a running system in Chromium; leaves pictures of it in PICTURES (CHROMIUM, PICTURES)
	@pkg/console/run $(PICTURES)

jsclient: engine ## check clients/js: types, tests, random histories (HISTORIES), planted mistakes, edits on a system (USERS)
	@clients/js/run $(HISTORIES)
	@clients/js/run system $(USERS)

race: engine icaljs httpece webhookreaders ## run tests under the race detector, by default every one (TESTFLAGS, RACED)
	$(GO) run ./internal/testreport -race $(TESTFLAGS) $(RACED)

soak: engine ## load, kill and recount at full length, and random histories on the engine (TESTFLAGS)
	NEXUS_SOAK=1 $(GO) test -count=1 -timeout 90m -v -run 'AfterALoad|IsKilled|DeliveredAgain|ForOthers|LifeThatWasErased|ALargeAccount|LargeBodies' $(TESTFLAGS) ./cmd/nexus/e2e
	NEXUS_SOAK=1 NEXUS_SERIES_HISTORIES=40 $(GO) test -count=1 -timeout 60m $(TESTFLAGS) ./pkg/local
	NEXUS_EDITING_HISTORIES=20000 $(GO) test -count=1 -timeout 60m $(TESTFLAGS) -run TestRunBatch_holdsInManyHistories ./pkg/api
	NEXUS_SERIES_MOVES=300000 $(GO) test -count=1 -timeout 60m $(TESTFLAGS) -run AsTheDocumentSays ./pkg/series

interleave: ## play every order of two workers' calls, with a death, a lost answer or a refusal at each
	NEXUS_INTERLEAVE=1 $(GO) test -count=1 -timeout 60m -run 'EveryOrder|Beside|Mixed' $(TESTFLAGS) ./pkg/projection ./pkg/reminders

lint: $(GOLANGCI) ## check style, imports and forbidden calls
	$(GOLANGCI) run ./...
	cd infra && $(CURDIR)/$(GOLANGCI) run -c ../.golangci.yaml ./...
	$(GO) test ./internal/lint

fuzz: engine ## run every fuzz target for FUZZTIME each, a duration or a number of runs such as 10000x
	@grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' --with-filename pkg | sort | \
	while IFS=: read -r file func; do \
		echo "$${func#func } in $$(dirname "$$file")"; \
		$(GO) test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" || exit 1; \
	done

sim: ## play random histories of the whole system under every fault (SEEDS, FROM, STEPS)
	$(GO) run ./cmd/nexus simulate --seeds $(SEEDS) --from $(FROM) --steps $(STEPS)

beside: ## play random histories in which the release before does part of the work (BEFORE, SEEDS, FROM, STEPS)
	$(GO) run ./internal/tools/beside $(if $(BEFORE),-before $(BEFORE)) -- --seeds $(SEEDS) --from $(FROM) --steps $(STEPS)

planted: ## plant mistakes one by one and let the simulation find each (PLANTEDFLAGS; -help lists them)
	$(GO) run ./internal/tools/planted -into docs/planted.md $(PLANTEDFLAGS)

census: ## tell what of the code under judgement the simulation executes (SEEDS, CENSUSFLAGS; -help lists them)
	$(GO) run ./internal/tools/census -seeds $(SEEDS) -from $(FROM) $(CENSUSFLAGS)

mutants: ## mutate a package and tell what tests and simulation notice (PKG, MUTANTTESTS, MUTANTSEEDS, MUTANTONLY, WORKERS)
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin GOFLAGS= $(GO) install github.com/go-gremlins/gremlins/cmd/gremlins@v$(GREMLINS_VERSION)
	bin/gremlins unleash ./pkg/$(PKG) --exclude-files / --dry-run --silent --invert-logical --invert-loopctrl -o $(MUTANTS)
	@# A mutant that takes memory without end fails at 6 GB, before the machine does.
	ulimit -v 6291456; $(GO) run ./internal/tools/mutants -workers $(WORKERS) -report $(MUTANTS) -pkg $(PKG) -tests '$(MUTANTTESTS)' -seeds $(MUTANTSEEDS) -only '$(MUTANTONLY)'

bench: engine ## run the benchmarks (BENCH, COUNT, BENCHTIME)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./...

scale: ## send the same requests and records to ever larger tables (SCALE)
	NEXUS_SCALE=$(SCALE) $(GO) test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -timeout 60m ./internal/bench/load

load: engine ## ask for week views, boards and items over HTTP on both stores (LOADFLAGS, LOADTIME)
	$(GO) test -run '^$$' -bench '^BenchmarkHTTP$$' -benchtime $(LOADTIME) -timeout 60m ./internal/bench/load $(LOADFLAGS)

engine: ## install the local DynamoDB engine as bin/dynoxide
	@pkg/local/engine/install.sh

httpece: ## install the other reader and the other sender of push messages as bin/http_ece.cjs and web_push.cjs
	@pkg/deliver/webpush/httpece/install.sh

webhookreaders: ## install the reference reader of webhooks below pkg/webhook/standard
	@pkg/webhook/standard/install.sh

icaljs: ## install the other iCalendar reader of the tests as bin/ical.cjs
	@pkg/calendar/icaljs/install.sh

calendars: ## 1,000 random calendars exported, imported elsewhere and exported again, and as many come to rest
	$(GO) test ./pkg/calendar -count=1 -run RandomCalendars -rapid.checks=1000

libical: ## build the other reader of time zones of the tests as bin/libical-zones
	@pkg/ical/zonereaders/install.sh

zones: icaljs libical ## hold every exported time zone from 1950 to 2060 against two other readers
	NEXUS_ZONES=all $(GO) test -count=1 -timeout 60m -v -run TestTimeZone_isReadByOtherPrograms ./pkg/ical

vendor: ## fetch what the console's page takes from npm into pkg/console/page/vendored
	@pkg/console/vendor.sh

build: ## build the command line as bin/nexus, with its version from git
	$(GO) build -trimpath -buildvcs=false -ldflags "-X main.release=$$(git describe --tags --match 'v*' --always --dirty) -X main.commit=$$(git rev-parse HEAD)" -o bin/nexus ./cmd/nexus

notice: ## write the licences of the modules that the programs contain to NOTICE
	$(GO) run ./internal/tools/notice

bom: build ## write which modules bin/nexus contains to bin/nexus.cdx.json
	$(GO) run ./internal/tools/bom/run bin/nexus

package: ## build the functions for arm64 as dist/functions/<name>.zip with bills of materials; same source, same bytes
	$(GO) run ./internal/tools/bundle/run dist/functions

synth: package cdk ## write every stage's CloudFormation template to cdk.out and hold it against the rules; needs no account
	bin/cdk synth --quiet $(CDKFLAGS)

bootstrap: package cdk ## prepare an account and region for deployments, once (CDKFLAGS)
	bin/cdk bootstrap -c stage=$(STAGE) $(CDKFLAGS)

diff: package cdk ## show what a deployment would change; refuses two indexes at once (STAGE, CDKFLAGS)
	bin/cdk diff -c stage=$(STAGE) nexus-$(STAGE) $(CDKFLAGS)
	@$(GO) run ./internal/tools/indexes -stage $(STAGE)

preflight: ## ask what a deployment takes for granted: issuer, release, certificates, alarms, quotas (STAGE, CDKFLAGS)
	@$(GO) run ./internal/tools/preflight -stage $(STAGE) -- $(CDKFLAGS)

deploy: preflight package cdk ## deploy to the account and region of the environment (STAGE, CDKFLAGS; APPROVED=1 after a read diff)
	bin/cdk deploy --strict $(if $(filter 1,$(APPROVED)),--require-approval never) -c stage=$(STAGE) nexus-$(STAGE) $(CDKFLAGS)

smoke: build ## try a deployed stage out, with NEXUS_TOKEN or a token of its own issuer (STAGE)
	@$(GO) run ./internal/tools/smoke -stage $(STAGE) -- bin/nexus

cdk: ## install the command line of the AWS CDK as bin/cdk
	@infra/install.sh

# Never from the cache: go does not see a change of cdk.json, which lies outside the module.
infra: ## test the rules of the infrastructure
	$(GO) test -C infra -count=1 ./...

# The module that infra replaces by this folder has no checksum, and the go command complains of that.
checksums: ## download the modules and hold them against go.sum
	$(GO) mod download && $(GO) mod verify
	cd internal/clients && $(GO) mod download && $(GO) mod verify
	cd infra && $(GO) mod download && \
	{ said=$$($(GO) mod verify 2>&1) || [ "$$said" = "nexus v0.0.0: missing ziphash: open hash: no such file or directory" ] || \
	{ echo "$$said" >&2; exit 1; }; }

vulnerabilities: ## look for known vulnerabilities that the programs can reach; fails also if the database is not reached (VULNDB)
	@$(GO) run ./internal/tools/vulnerabilities -db '$(VULNDB)'
	@$(MAKE) --no-print-directory $(GOVULNCHECK)
	@$(GO) run ./internal/tools/vulnerabilities -db '$(VULNDB)' -with $(GOVULNCHECK)

# The tools of this file are in no go.mod.
updates: ## list newer versions of modules and tools, and what their authors withdrew
	@mkdir -p bin
	@for folder in . infra internal/clients; do \
		(cd $$folder && $(GO) list -e -m -u -retracted -f '$(NEWER)' all) || exit 1; \
	done > bin/updates.txt
	@$(GO) list -e -m -u -retracted -f '$(NEWER)' github.com/go-gremlins/gremlins@v$(GREMLINS_VERSION) \
		github.com/golangci/golangci-lint/v2@v$(GOLANGCI_VERSION) golang.org/x/vuln@v$(GOVULNCHECK_VERSION) >> bin/updates.txt
	@sed 's/^ *//; s/ *$$//; /^$$/d' bin/updates.txt | sort -u

clean: ## remove what was built and installed here; data stay
	rm -rf bin dist cdk.out

$(GOVULNCHECK):
	@mkdir -p bin && work=$$(mktemp -d "$(CURDIR)/bin/install.XXXXXX") && trap 'rm -rf "$$work"' EXIT && \
	GOBIN=$$work GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@v$(GOVULNCHECK_VERSION) && \
	mv -f "$$work/govulncheck" $@

# The linter is built from source into a directory of its own first, so that bin never holds half of it.
$(GOLANGCI):
	@mkdir -p bin && work=$$(mktemp -d "$(CURDIR)/bin/install.XXXXXX") && trap 'rm -rf "$$work"' EXIT && \
	GOBIN=$$work GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_VERSION) && \
	mv -f "$$work/golangci-lint" $@

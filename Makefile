# One verb per habit. A naked `make` checks; `make help` lists the verbs.

# One set of flags for every debug build: other flags would build everything again.
FLAGS := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
SWIFT_FILES := Package.swift Sources Resolvers Tests $(wildcard Examples Benchmarks)
HTTPDNS := .build/debug/httpdns
# Where the vectors of other projects lie, outside this repository.
CONFORMANCE := ../shared/conformance

.DEFAULT_GOAL := check
.NOTPARALLEL:
.PHONY: help setup build run demo test check lint format san fuzz soak fleet bench cover conformance docs release

help: ## list the verbs
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r verb text; do \
	  printf '  make %-12s %s\n' "$$verb" "$$text"; done

setup: ## install what is missing (Debian and Ubuntu; says what it does)
	@scripts/setup

build: setup ## build everything, tests included
	@echo 'build: swift build (the first takes a few minutes)'
	@swift build --quiet --build-tests $(FLAGS)

demo: setup ## one hijacked request gets through: servers, liars and all, without a network
	@echo 'demo: swift build (the first takes a few minutes)'
	@swift build --quiet --product Demo $(FLAGS)
	@.build/debug/Demo

run: setup ## the command-line tool: make run ARGS='lookup www.example.com'
	@swift build --quiet --product httpdns $(FLAGS)
	@$(HTTPDNS) $(ARGS)

test: build ## all tests, on loopback only
	@scripts/check-linkage $(HTTPDNS)
	@scripts/test $(FLAGS)

check: lint build ## lint, and a build without a warning

lint: ## the format, and the rules that a compiler cannot see
	@swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	@scripts/lint --self-test
	@scripts/lint

format: ## rewrite the Swift files in the house format
	@swift format --in-place --parallel --recursive $(SWIFT_FILES)

# LeakSanitizer is off: the test library itself leaks in asynchronous tests and would fail every
# run. The backtracer is off: after a crash it waits on the pipe and the run would never end.
san: setup ## all tests under AddressSanitizer, then under ThreadSanitizer
	@echo 'san: address'
	@ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no \
	  scripts/test $(FLAGS) --sanitize=address --build-path .build/asan
	@echo 'san: thread'
	@TSAN_OPTIONS=second_deadlock_stack=1 SWIFT_BACKTRACE=enable=no \
	  scripts/test $(FLAGS) --sanitize=thread --build-path .build/tsan

fuzz: setup ## libFuzzer on what reads bytes from the network
	@scripts/fuzz

soak: setup ## resolvers under load, servers that die: make soak ARGS='--seconds 600 --sanitize thread'
	@scripts/soak $(ARGS)

fleet: setup ## a resolver tier under load while its servers are killed: make fleet ARGS=--quick
	@scripts/fleet $(ARGS)

bench: setup ## ratios against peers, measured side by side: make bench ARGS=--quick
	@scripts/bench $(ARGS)

cover: setup ## line coverage of the cores, with its floor
	@scripts/test $(FLAGS) --enable-code-coverage --build-path .build/cover
	@scripts/cover "$$(swift test --show-codecov-path --build-path .build/cover)"

conformance: build ## test vectors of other projects, where ../shared has them
	@scripts/conformance --data $(CONFORMANCE) -- $(HTTPDNS) conformance

docs: setup ## reference documentation, into docs/site
	@scripts/reference

release: setup ## the command-line tool as it is shipped: .build/release/httpdns
	@swift build --quiet -c release --static-swift-stdlib --product httpdns
	@scripts/check-linkage .build/release/httpdns

# Every target sets itself up: a clean checkout needs only make and Python 3.11 or newer.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Where the service shows its metrics, for `make dashboards`; without it, ports from 9464 on.
METRICS ?=

# Extra words for uv, e.g. `make lock LOCK="--upgrade"`; without them the pins stay as they are.
LOCK   ?=

PROTOS    := $(sort $(wildcard proto/croupier/v1/*.proto))
# Only these get a *_pb2_grpc.py; for the others it would be an empty shell.
SERVICES  := $(shell grep -l '^service ' $(PROTOS) /dev/null)
STUBS     := build/stubs
LOCKED    := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
PLOTTING  := $(VENV)/.plotting

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# buf insists on a cache folder; this one needs no home directory.
export BUF_CACHE_DIR := $(CURDIR)/build/buf

.DEFAULT_GOAL := help
.PHONY: help setup run demo dashboards test test-ops drills check image-check proto drift bench bench-smoke clean lock stubs

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## create .venv with the locked packages and this checkout

run: $(INSTALLED) ## serve a demonstration ledger from .data, until interrupted
	@$(BIN)/croupier demo --stay --data .data

dashboards: $(INSTALLED) ## show Prometheus, and Grafana where there is one, of a service that runs here
	@$(BIN)/python deploy/dashboards.py $(METRICS)

demo: $(INSTALLED) ## play the demonstration once and exit
	@mkdir -p build
	@$(BIN)/croupier demo --data build/demo-data

test: $(INSTALLED) ## run the tests
	@$(BIN)/python -m pytest -n 2 tests

test-ops: $(INSTALLED) ## run what needs Prometheus: rules, alerts and dashboards against the real one; units, manifests
	@for program in prometheus promtool; do command -v $$program > /dev/null \
		|| { echo "test-ops: $$program was not found; install the distribution's package prometheus" >&2; exit 1; }; done
	@$(BIN)/python -m pytest -n 2 tests/ops
	@$(BIN)/python -m pytest -m ops tests/deploy --ignore tests/deploy/test_image_runs.py

check: $(INSTALLED) ## lint, format, types, import direction, protos, stub drift
	@mkdir -p build
	@echo "check: ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { $(BIN)/ruff format --check .; exit 1; }
	@echo "check: mypy"
	@$(BIN)/mypy --no-error-summary
	@echo "check: import direction"
	@$(BIN)/lint-imports > build/lint-imports.txt || { cat build/lint-imports.txt; exit 1; }
	@echo "check: protos"
	@$(BIN)/buf lint proto
	@$(MAKE) --no-print-directory drift

proto: stubs ## regenerate the committed stubs from the .proto files
	@rm -f proto/croupier/v1/*_pb2*.py proto/croupier/v1/*_pb2*.pyi
	@cp $(STUBS)/croupier/v1/* proto/croupier/v1/
	@echo "proto: $(words $(PROTOS)) files"

# The committed stubs are what the .proto files say, no more and no fewer.
drift: stubs
	@diff -r -x '*.proto' -x '__init__.py' -x '__pycache__' -x 'py.typed' -x '*.md' \
		proto/croupier/v1 $(STUBS)/croupier/v1 \
		|| { echo "check: the stubs differ from the .proto files; run \`make proto\` and commit" >&2; exit 1; }

stubs: $(INSTALLED)
	@test -n "$(PROTOS)" || { echo "proto: there are no .proto files" >&2; exit 1; }
	@rm -rf $(STUBS) && mkdir -p $(STUBS)
	@$(BIN)/python -m grpc_tools.protoc -I proto \
		--plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy \
		--python_out=$(STUBS) --mypy_out=quiet:$(STUBS) $(PROTOS)
	@$(BIN)/python -m grpc_tools.protoc -I proto \
		--plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc \
		--grpc_python_out=$(STUBS) --mypy_grpc_out=quiet:$(STUBS) $(SERVICES)

image-check: $(INSTALLED) ## carry out the Dockerfile's steps and run the result, without an engine; takes root
	@$(BIN)/python -m pytest -m ops tests/deploy/test_image_runs.py

drills: $(INSTALLED) ## break real Redis servers under load: what is lost, how long it takes
	@$(BIN)/python -m tests.drills

drill-%: $(INSTALLED) # one of them, e.g. `make drill-failover`
	@$(BIN)/python -m tests.drills $*

bench: $(INSTALLED) $(PLOTTING) ## measure speed against yardsticks of the same run, and draw it
	@$(BIN)/python tests/bench/run.py
	@$(BIN)/python tests/bench/plots.py build/bench-points.json docs/plots

bench-smoke: $(INSTALLED) ## run the benchmark on tiny sizes, to see that it works
	@mkdir -p build
	@$(BIN)/python tests/bench/run.py --smoke > build/bench-smoke.txt || { cat build/bench-smoke.txt; exit 1; }

lock: $(INSTALLED) ## renew requirements/ from pyproject.toml
	@$(call compile,run,)
	@$(call compile,dev,--group dev --constraints requirements/run.txt)
	@$(call compile,build,--constraints requirements/dev.txt,--group build)
	@$(call compile,bench,--group bench --constraints requirements/run.txt --constraints requirements/dev.txt)

clean: ## remove .venv, build and caches; ledgers in .data stay
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find domain services proto tests -type d -name __pycache__ -prune -exec rm -rf {} +

# Hashes pin every file on every platform; no index address is written, so each site uses its own.
define compile
echo "lock: requirements/$(1).txt"; \
$(BIN)/uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	$(LOCK) $(2) --output-file requirements/$(1).txt $(or $(3),pyproject.toml) > /dev/null
endef

# Two stamps: changed requirements rebuild the environment, a changed pyproject only this install.
$(LOCKED): requirements/dev.txt
	@command -v $(PYTHON) > /dev/null \
		|| { echo "setup: $(PYTHON) was not found; use make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("setup: croupier needs Python 3.11 or newer and $(PYTHON) is %d.%d; use make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	@echo "setup: creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "setup: installing the locked packages (a minute or two, the first time)"
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements/dev.txt
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml
	@echo "setup: installing croupier"
	@mkdir -p build
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

# What only the plots of `make bench` need; pins agree with those of the environment it joins.
$(PLOTTING): $(LOCKED) requirements/bench.txt
	@echo "setup: installing what draws the plots"
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements/bench.txt
	@touch $@

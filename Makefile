# Everything here sets itself up in .venv, inside the clone. Only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv
READY  := $(VENV)/.ready
# One worker for each core; one that has nothing left to do takes tests from another.
PARALLEL := --numprocesses auto --maxprocesses 8 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-random check format docs bench bless lock clean

help:  ## list what there is to run
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(READY)  ## install everything into .venv

# The lock names every package with its hash; the models' wheels are built from pinned, checked weights.
$(READY): pyproject.toml uv.lock benchmarks/quality/pyproject.toml $(wildcard models/*/pyproject.toml models/*.py models/*/recollect_model_*/*)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(UV) || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@echo "Setting up .venv (the first time takes a minute) …"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) sync --quiet --locked --active --inexact --compile-bytecode
	@touch $@

demo: $(READY)  ## see it work: a small graph, a few searches
	@$(BIN)/python examples/demo.py

test: $(READY)  ## every test
	$(BIN)/python -m pytest $(PARALLEL)

test-random: $(READY)  ## search for counterexamples with fresh seeds, 50 times as far
	RECOLLECT_TEST_RANDOM=25 $(BIN)/python -m pytest $(PARALLEL) -m hypothesis

check: $(READY)  ## style, types, import contracts
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cog -I docs --check docs/cli.md docs/settings.md docs/benchmarks.md docs/confidence.md

format: $(READY)  ## rewrite the style
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: $(READY)  ## rewrite the pages that are made from the code
	$(BIN)/python -m recollect.serve.operations.catalogue
	$(BIN)/cog -I docs -r docs/cli.md docs/settings.md docs/benchmarks.md docs/confidence.md

bench: $(READY)  ## speed, against peers, into benchmarks/results
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) sync --quiet --locked --active --inexact --group bench
	$(BIN)/python benchmarks/speed/vectors.py --json benchmarks/results/vectors.json
	$(BIN)/python benchmarks/speed/store.py --json benchmarks/results/store.json
	$(BIN)/python benchmarks/speed/ranking.py --json benchmarks/results/ranking.json
	$(BIN)/python benchmarks/speed/notes.py --json benchmarks/results/notes.json
	$(BIN)/python benchmarks/speed/context.py --json benchmarks/results/context.json
	$(BIN)/python benchmarks/speed/mcp_servers.py --json benchmarks/results/mcp.json
	$(BIN)/python benchmarks/speed/dreams.py --json benchmarks/results/dreams.json

bless: $(READY)  ## rewrite the golden files; review the diff like code
	RECOLLECT_BLESS=1 $(BIN)/python -m pytest tests/golden

lock: $(READY)  ## refresh uv.lock
	$(UV) lock

clean:  ## remove .venv and what tools left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build

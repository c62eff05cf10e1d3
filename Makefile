# Everything here sets itself up in .venv, inside the clone. Only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv
READY  := $(VENV)/.ready
SITE   := $(VENV)/.site
# One worker more than there are cores, since tests also wait for servers and programs that they start; one that
# has nothing left to do takes tests from another.
PARALLEL := --numprocesses $(shell $(PYTHON) -c 'import os; print(min(8, 1 + (os.cpu_count() or 1)))') --dist worksteal

# Made from the code, and from what the benchmarks wrote.
PAGES := README.md $(addprefix docs/reference/,api.md cli.md errors.md mcp.md settings.md) \
  $(addprefix docs/internals/,benchmarks.md confidence.md performance.md torture.md decisions/README.md) \
  docs/guides/hooks.md docs/guides/postgres.md

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-slow test-core test-server test-importers test-postgres test-integrations frameworks-lock test-random torture check audit licences sbom dist release format docs client bench train train-model figures bless lock clean

help:  ## list what there is to run
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(READY)  ## install everything into .venv

# The lock names every package with its hash; the models' wheels are built from pinned, checked weights.
$(READY): pyproject.toml uv.lock benchmarks/quality/pyproject.toml $(wildcard models/*/pyproject.toml models/*.py models/*/recollect_model_*/*) $(wildcard packages/*/pyproject.toml) packages/recollect/src/recollect/models/onnx_graph.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(UV) || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@echo "Setting up .venv (the first time takes a minute) …"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) sync --quiet --locked --active --inexact --all-packages --compile-bytecode
	@touch $@
	@echo "Ready. Next: make demo, or . .venv/bin/activate"

demo: $(READY)  ## see it work in 60 lines, on a temporary store
	@$(BIN)/python examples/demo.py

# `ONLY=…` chooses tests by a part of their names, as pytest's -k does: make test-server ONLY=token
PYTEST = $(BIN)/python -m pytest $(PARALLEL) $(if $(ONLY),-k "$(ONLY)")

test: $(READY)  ## the tests to run while you work: everything but what is slow
	$(PYTEST) -m "not slow"

test-all: test test-slow test-integrations  ## every test

test-slow: $(READY)  ## what `make test` leaves out: PostgreSQL, browsers, killed processes, long searches
	$(PYTEST) -m slow --ignore packages/recollect-server/tests/web
	$(PYTEST) --dist loadfile packages/recollect-server/tests/web

test-core: $(READY)  ## every test of the core
	$(PYTEST) packages/recollect

test-server test-importers: test-%: $(READY)
	$(PYTEST) packages/recollect-$*

test-postgres: $(READY)  ## every test of one package; also test-server, test-importers, test-integrations
	$(PYTEST) packages/recollect-postgres

# The frameworks that we have adapters for, in environments of their own: they hold other versions than we do.
FRAMEWORKS := .venv-frameworks
CREWAI     := .venv-crewai
# Frameworks take long to import, and each worker imports them: few workers are the quickest.
FRAMEWORK_TESTS := -m pytest -c packages/recollect-integrations/tests/pytest.ini --dist worksteal

$(FRAMEWORKS)/.ready: packages/recollect-integrations/tests/requirements.txt
$(CREWAI)/.ready: packages/recollect-integrations/tests/requirements-crewai.txt
$(FRAMEWORKS)/.ready $(CREWAI)/.ready: $(READY)
	@echo "Setting up $(@D) (the first time takes a minute) …"
	@test -x $(@D)/bin/python || $(UV) venv --quiet --python $(BIN)/python $(@D)
	@VIRTUAL_ENV=$(CURDIR)/$(@D) $(UV) pip install --quiet --requirement $(filter %.txt,$^) \
	  $(addprefix --editable packages/,recollect recollect-importers recollect-integrations)
	@touch $@

test-integrations: $(FRAMEWORKS)/.ready $(CREWAI)/.ready  ## the adapters, with the frameworks themselves
	$(FRAMEWORKS)/bin/python $(FRAMEWORK_TESTS) --numprocesses 2 packages/recollect-integrations/tests --ignore packages/recollect-integrations/tests/crewai
	$(CREWAI)/bin/python $(FRAMEWORK_TESTS) --numprocesses 2 packages/recollect-integrations/tests/crewai

frameworks-lock: $(READY)  ## take the newest releases of the frameworks
	for each in requirements requirements-crewai; do \
	  $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	    packages/recollect-integrations/tests/$$each.in --output-file packages/recollect-integrations/tests/$$each.txt || exit 1; done

test-random: $(READY)  ## search for counterexamples with fresh seeds, 50 times as far
	RECOLLECT_TEST_RANDOM=25 $(BIN)/python -m pytest $(PARALLEL) -m hypothesis

# Kept until it is over, so that `make torture` after a stop goes on; RESUME=… names another folder.
RESUME ?= .torture
torture: $(READY)  ## an hour of kills, cuts, fuzz and soak, with figures (PART=kills COUNT=100: less of it)
	$(BIN)/python benchmarks/torture/torture.py --jobs 2 --resume $(RESUME) --json $(RESUME)/figures.json \
	  $(addprefix --part ,$(PART)) $(addprefix --count ,$(COUNT)) $(addprefix --seconds ,$(SECONDS))

# mypy reads these where the frameworks are.
ADAPTERS := $(wildcard packages/recollect-integrations/src/recollect_integrations/*.py packages/recollect-integrations/src/recollect_integrations/*/*.py)
ADAPTER_TESTS := $(wildcard packages/recollect-integrations/tests/*.py packages/recollect-integrations/tests/*/*.py)

check: $(SITE) $(FRAMEWORKS)/.ready $(CREWAI)/.ready  ## style, types, import contracts, budgets
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	export PATH="$(abspath $(BIN)):$$PATH" && pyright --ignoreexternal --verifytypes recollect > /dev/null && \
	  pyright examples/quickstart.py packages/recollect/tests/test_typical_calls.py
	$(FRAMEWORKS)/bin/mypy $(filter-out %/crewai.py,$(ADAPTERS)) $(filter-out packages/recollect-integrations/tests/crewai/%,$(ADAPTER_TESTS))
	$(CREWAI)/bin/mypy --follow-imports silent packages/recollect-integrations/src/recollect_integrations/crewai.py packages/recollect-integrations/tests/pages.py $(filter packages/recollect-integrations/tests/crewai/%,$(ADAPTER_TESTS))
	$(BIN)/lint-imports
	$(BIN)/cog -I docs/scripts --check $(PAGES)
	$(BUILD_SITE)
	$(BIN)/python benchmarks/speed/growth_plot.py --check
	$(BIN)/python docs/scripts/async_types.py --check
	$(BIN)/python docs/scripts/demo_picture.py --check
	$(BIN)/python benchmarks/plain.py
	$(BIN)/python benchmarks/budgets.py

# The last step ends with 1 where a vulnerability is known, with 3 where the advisories could not be reached.
audit: licences sbom  ## known vulnerabilities, licences and the bill of materials of what is locked
	$(BIN)/python release/advisories.py

licences: $(READY)  ## rewrite docs/reference/licences.md
	$(BIN)/python release/licences.py

sbom: $(READY)  ## the software bill of materials of a release, into dist
	$(BIN)/python release/bill_of_materials.py

dist: $(READY)  ## build the wheels and the sdist into dist, look into them, install them and use them
	$(BIN)/python release/distribution.py

# All that the workflow does before it publishes; the tag is yours to set.
release: $(READY)  ## is it ready for its tag? The workflows, the version everywhere, the packages, the bill of materials
	$(BIN)/python release/lint.py
	@$(BIN)/python release/notes.py > /dev/null
	$(BIN)/python release/distribution.py
	$(BIN)/python release/bill_of_materials.py
	@$(BIN)/python release/notes.py

format: $(READY)  ## rewrite the style
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# The site's own packages, which only `make docs` and `make check` need.
$(SITE): $(READY)
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) sync --quiet --locked --active --inexact --all-packages --group docs
	@touch $@

# Fails on a broken link or anchor, on a page that the navigation lacks, and on anything loaded from elsewhere. Not
# with --quiet: mkdocs then ignores its own warnings.
BUILD_SITE = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs: $(SITE)  ## rewrite the pages that are made from the code, and build the site into site/
	$(BIN)/python -m recollect.operations.catalogue
	$(BIN)/python docs/scripts/async_types.py
	$(BIN)/python docs/scripts/demo_picture.py
	$(BIN)/python benchmarks/speed/growth_plot.py
	$(BIN)/cog -I docs/scripts -r $(PAGES)
	$(BUILD_SITE)
	@echo "The documentation is in site/index.html"

# Needs Node and npm; what is made is committed, and a test compares it.
client: $(READY)  ## make the TypeScript client's types anew from the OpenAPI document
	$(BIN)/recollect serve --openapi > clients/typescript/openapi.json
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund && npm run generate && npm run build

bench: $(READY)  ## speed, and against peers, into benchmarks/results (QUICK=1: a minute or two, to see that it runs)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) sync --quiet --locked --active --inexact --all-packages --group bench
	$(BIN)/python benchmarks/speed/speed.py $(if $(QUICK),--quick,--json benchmarks/results/speed.json)
	$(BIN)/python benchmarks/peers/peers.py $(if $(QUICK),--quick,--json benchmarks/results/peers.json $(LOCOMO))

# R@10 of the peers, where LoCoMo is in the folder that DATA names.
LOCOMO = $(if $(wildcard $(DATA)/locomo-dev-jsonl),--locomo $(DATA)/locomo-dev-jsonl)

# The sets that docs/internals/benchmarks.md has, in the folder that DATA names, beside our own.
SETS := locomo-dev-jsonl beam100k realmem factcon tsqa hotpotqa scifact xquad_r xquad-de xquad-ru xquad-zh
DATA ?= ../data
QUALITY = $(BIN)/recollect bench quality --data benchmarks/everyday --data benchmarks/lives
RESULTS := benchmarks/results

EVERYDAY := benchmarks/everyday
LIVES    := benchmarks/lives
TODAY = $(shell date +%F)
CACHE ?= $(HOME)/.cache/recollect/bench
FIT = --date $(TODAY) --cache $(CACHE)
CONVERSATIONS := locomo-dev-jsonl beam100k realmem
FACTS := factcon tsqa hotpotqa
FOREIGN := xquad-de xquad-ru xquad-zh

train: $(READY)  ## learn weights, changes and confidence anew from the sets in DATA=…
	$(BIN)/python -m recollect_bench.training $(FIT) --signs $(RESULTS)/signs.json --whole $(LIVES) --whole $(EVERYDAY) \
	  $(addprefix $(DATA)/,$(CONVERSATIONS) $(FACTS) xquad_r scifact)
	$(BIN)/python -m recollect_bench.fit_replaces $(FIT) --lives $(LIVES) \
	  --facts $(DATA)/factcon $(DATA)/tsqa -- arctic-memory e5-memory potion
	$(BIN)/python -m recollect_bench.fit_confidence $(FIT) --report $(RESULTS)/confidence-fit.json \
	  --text-model arctic-memory --text-model e5-memory lives:auto=$(LIVES) everyday:auto=$(EVERYDAY) \
	  $(foreach set,$(CONVERSATIONS) $(FACTS),$(set):auto=$(DATA)/$(set)) \
	  $(addprefix xquad:auto=$(DATA)/,$(FOREIGN) xquad_r/en.json)

# PyTorch is large, so it has an environment of its own. The adapter is committed; the wheel's build adds it to the weights.
TRAINING := .venv-training

$(TRAINING)/.ready: models/train/requirements.txt $(READY)
	@test -x $(TRAINING)/bin/python || $(UV) venv --quiet --python $(BIN)/python $(TRAINING)
	@VIRTUAL_ENV=$(CURDIR)/$(TRAINING) $(UV) pip install --quiet --requirement $< \
	  --editable packages/recollect --editable benchmarks/quality ./models/arctic-s ./models/e5-small
	@touch $@

train-model: tune-arctic-memory tune-e5-memory  ## tune both embedders on the sets in DATA=… (about an hour), and pin what comes of it

tune-e5-memory: RECIPE := --base e5-small --share-of-ours 0.6 --mined 3
tune-%: $(TRAINING)/.ready
	$(TRAINING)/bin/python models/train/train.py $(RECIPE) --data $(DATA) --out models/$*
	$(TRAINING)/bin/python models/train/pin.py models/$*
	VIRTUAL_ENV=$(CURDIR)/$(TRAINING) $(UV) pip install --quiet --reinstall ./models/$*
	$(TRAINING)/bin/python models/centre.py $*
	$(TRAINING)/bin/python models/rotation.py $*

figures: $(READY)  ## quality and confidence on the sets in DATA=…, and the pages made of them
	$(QUALITY) $(addprefix --data $(DATA)/,$(SETS)) --extract --save $(RESULTS)/quality.json --plot docs/images/quality.svg
	$(BIN)/recollect bench quality --data $(DATA)/locomo-dev-jsonl --profile recollect --ablate --save $(RESULTS)/parts.json
	$(BIN)/recollect bench context --data benchmarks/everyday --save $(RESULTS)/prompts.json
	$(BIN)/recollect bench abstention --data benchmarks/everyday $(addprefix --data $(DATA)/,beam100k locomo-dev-jsonl scifact) \
	  --data $(DATA)/xquad_r/en.json --questions 150 --absent 60 --save $(RESULTS)/abstention.json --plot docs/images/reliability.svg
	if test -d $(DATA)/precisionMemBench; then \
	  $(BIN)/recollect bench precision --data $(DATA)/precisionMemBench --save $(RESULTS)/precision.json; fi
	$(MAKE) docs

bless: $(READY)  ## rewrite the golden files; review the diff like code
	RECOLLECT_BLESS=1 $(BIN)/python -m pytest packages/recollect/tests/golden
	PYTHONPATH=tests/support $(BIN)/python packages/recollect/tests/frozen/generate.py

lock: $(READY)  ## refresh uv.lock
	$(UV) lock

clean:  ## remove .venv and what tools left behind
	rm -rf $(VENV) .torture .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build site

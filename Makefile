# Everything a newcomer or a maintainer types. Two commands do all: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
STAMP := $(VENV)/.installed

# what does not wait for each other goes side by side: the browser beside the packages, lint beside the tests
MAKEFLAGS += --jobs=2

.PHONY: install demo test browser pytest lint docs learn spec mutants recipes quality bench bench-gpu reliability dist pins clean

# every package in the version of constraints.txt, those that build atento too (older and newer pip)
PINNED := PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_BUILD_CONSTRAINT=$(CURDIR)/constraints.txt

install: $(STAMP)

# torch is named by itself first, so that its pinned build is taken and no other is ever looked for
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PINNED) $(BIN)/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PINNED) $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/atento compare numbers

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint pytest

# root gets a browser where there is none; without one the tests say which of them are left out
browser:
	@command -v chromium >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
		(apt-get -o DPkg::Lock::Timeout=600 update -qq && apt-get -o DPkg::Lock::Timeout=600 install -y -qq chromium) || \
		echo "chromium could not be installed; the tests go on without it"

pytest: $(STAMP) browser
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --dist worksteal
	@$(BIN)/python tests/spec_table.py --brief

# the documentation in site/, without a network; site/index.html can be opened as it is
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open site/index.html"

# the lessons of docs/learn, run and written anew in both languages
learn: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python docs/learn/build.py

# which rows of docs/coverage.md are proved by the last `make test`; RUN=1 runs the tests first
spec: $(STAMP)
	@$(BIN)/python tests/spec_table.py $(if $(RUN),--run)

# every planted mistake must be seen by the tests of the rows it attacks; the last line counts them
mutants: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python tests/mutants/run.py

# every built-in set with a pass mark, trained by its own recipe in about a minute each
recipes: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/recipes.py

# every claim on one core beside its peers, which have an environment of their own, in one table
bench: $(PEERS)/.installed
	@$(PEERS)/bin/python benchmarks/cpu/table_cpu.py

# torch first and by itself, in the pinned version; then atento, then the peers
$(PEERS)/.installed: benchmarks/peers.txt pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PINNED) $(PEERS)/bin/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PINNED) $(PEERS)/bin/pip install --quiet --disable-pip-version-check --editable .
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)" --requirement benchmarks/peers.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps OpenNMT-py==3.0.4
	touch $@

# every line of docs/quality.md: make quality DATA=folder-of-sets; more options in OPTIONS, e.g. OPTIONS='--device cpu'
quality: $(STAMP)
	@$(BIN)/python benchmarks/quality/all_sets.py $(DATA) $(OPTIONS)

# wheel and sdist in dist/: the same bytes from the same sources, wherever and whenever they are built
dist: $(STAMP)
	$(BIN)/python -m hatchling build --clean --directory dist

# constraints.txt anew, from what is installed: after a dependency was added, or was updated on purpose
pins: $(STAMP)
	$(BIN)/python benchmarks/release/pin.py

# kills, failing writes, signals, damaged folders and files: every promise of docs/reliability.md at full length
reliability: $(STAMP)
	@missed=0; for file in $$(ls benchmarks/reliability/*.py | grep -v -e measure.py -e clients.py); do OMP_NUM_THREADS=1 $(BIN)/python $$file || missed=1; done; exit $$missed

# on a machine with a CUDA GPU and a torch build for it: every claim beside its peer, in one table
bench-gpu: $(STAMP)
	@$(BIN)/python benchmarks/gpu/table.py

clean:
	rm -rf $(VENV) $(PEERS) build dist site .pytest_cache .mypy_cache .ruff_cache .spec-results.json

# Everything a newcomer or a maintainer types. Two commands do all: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test lint spec mutants recipes bench clean

install: $(STAMP)

# torch is named by itself first, so that its pinned build is taken and no other is ever looked for
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/atento compare numbers

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(STAMP) lint
	command -v chromium >/dev/null || (apt-get -o DPkg::Lock::Timeout=600 update -qq && apt-get -o DPkg::Lock::Timeout=600 install -y -qq chromium)
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --dist worksteal
	@$(BIN)/python tests/spec_table.py --brief

# which rows of docs/coverage.md are proved by the last `make test`; RUN=1 runs the tests first
spec: $(STAMP)
	@$(BIN)/python tests/spec_table.py $(if $(RUN),--run)

# every planted mistake must be seen by the tests of the rows it attacks; the last line counts them
mutants: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python tests/mutants/run.py

# every built-in set with a pass mark, trained by its own recipe in about a minute each
recipes: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/recipes.py

bench: $(STAMP)
	@missed=0; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || missed=1; done; exit $$missed

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .spec-results.json

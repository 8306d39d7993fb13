# Every target makes what it needs: a virtual environment in .venv, the pinned clients in .e2e.
PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
E2E     := .e2e/venv/bin
SOURCES := src tests bench evals

# Twice as many workers as cores, for many tests wait; WORKERS=0 runs them one after the other.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')

# Without its bytecode pytest writes the asserts of all tests anew in each worker, and each process
# that a test starts reads all of the source.
unexport PYTHONDONTWRITEBYTECODE

# The folders of a test that passed go at once: they may lie in memory, and those of the real
# clients fill a disk.
OPTIONS := -q -o tmp_path_retention_policy=failed --dist worksteal
PYTEST  := $(BIN)/python -m pytest $(OPTIONS)

.DEFAULT_GOAL := help
.PHONY: help demo test slow e2e evals bench lint format clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)  ## play a whole session through the real binary, in a temporary home
	@$(BIN)/sisyphus demo

test: lint  ## ruff, mypy --strict, and the tests of all day
	$(PYTEST) -n $(WORKERS)

slow: $(STAMP)  ## kills at every statement, many hooks at once, full disks, large files
	$(PYTEST) -n auto -m slow

e2e:  ## the real clients against a scripted model on loopback
	$(PYTHON) tests/e2e/install.py
	$(E2E)/python -m pytest $(OPTIONS) -n $(WORKERS) --confcutdir=tests/e2e tests/e2e

evals:  ## how often the work is done with sisyphus and without, by a scripted agent
	$(PYTHON) tests/e2e/install.py
	PYTHONPATH=tests $(E2E)/python -m evals --jobs $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')

bench: $(STAMP)  ## what hooks and commands cost, as ratios to `python -c "import json"`
	$(BIN)/python -m pip install --quiet --no-deps .  # users have no editable install
	$(BIN)/python bench/hooks.py && $(BIN)/python bench/run.py && \
	PYTHONPATH=tests $(BIN)/python bench/dashboard.py; code=$$?; \
	$(BIN)/python -m pip install --quiet --no-deps --editable .; exit $$code
	$(PYTHON) tests/e2e/install.py
	PYTHONPATH=tests $(E2E)/python bench/session.py

lint: $(STAMP)  ## ruff and mypy --strict
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

format: $(STAMP)  ## let ruff put the code in order
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

clean:  ## remove everything that was made
	rm -rf .venv .e2e build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dashboard]' --group dev
	touch $@

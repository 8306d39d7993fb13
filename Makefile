# Every target makes what it needs: a virtual environment in .venv, the pinned clients in .e2e.
PYTHON  ?= python3
PYTHONS ?= python3.11 python3.12 python3.13
VENV    ?= .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
SOURCES := src tests bench tools docs/pictures

# As many workers as cores; WORKERS=0 runs the tests one after the other.
WORKERS ?= auto
AT_ONCE := -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test slow cover test-all e2e bench docs lint format build version clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)  ## play a whole session through the real binary, in a temporary home
	@$(BIN)/sisyphus demo

test: lint  ## ruff, mypy --strict, the tests but for the slow ones
	$(BIN)/python -m pytest -q $(AT_ONCE)

slow: $(STAMP)  ## the slow tests: kills, many at once, documents' blocks, pictures, large files
	$(BIN)/python -m pytest -q $(AT_ONCE) -m slow

cover: $(STAMP)  ## all tests, slow ones too, with coverage and its gate
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q $(AT_ONCE) -m "slow or not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-all:  ## the tests on every supported Python (PYTHONS="python3.11 …")
	@pythons=$$($(PYTHON) tools/pythons.py $(PYTHONS)) || exit 1; \
	for python in $$pythons; do \
	  name=.venv-$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "== $$python" \
	    && $(MAKE) --no-print-directory $$name/.installed VENV=$$name PYTHON=$$python \
	    && $$name/bin/python -m pytest -q $(AT_ONCE) -m "slow or not slow" || exit 1; \
	done

e2e:  ## the real clients against a scripted model on loopback
	$(PYTHON) tests/e2e/install.py
	.e2e/venv/bin/python -m pytest --confcutdir=tests/e2e tests/e2e

bench: $(STAMP)  ## cost of hooks and commands beside `python -c "import json"`; writes docs/benchmarks.md
	$(BIN)/python bench/run.py

docs: $(STAMP)  ## write anew what is written from the code: settings, pictures (needs Chromium)
	$(BIN)/python tools/settings_page.py
	$(BIN)/python docs/pictures/make.py
	$(BIN)/python docs/pictures/screens.py

lint: $(STAMP)  ## ruff and mypy --strict
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

format: $(STAMP)  ## let ruff put the code in order
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

build: $(STAMP)  ## wheel and source archive in dist/, where all agree on the version
	@$(PYTHON) tools/release.py check
	rm -rf dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build

version:  ## give what is unreleased a version (TO=X.Y.Z)
	@$(PYTHON) tools/release.py set "$(TO)"

clean:  ## remove everything that was made
	rm -rf .venv* .e2e build dist .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dashboard]" --group dev
	touch $@

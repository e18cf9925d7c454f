# Everything runs in .venv, which is made on first use and remade when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
# numba's cache notices a change in a compiled function's own file only, not in those it calls:
# one cache per state of the files that have compiled functions.
STATE := $(shell grep -rlE '^@(compiled|inlined)|njit' src paper --include=*.py | LC_ALL=C sort | \
	xargs cat | sha256sum | cut -c1-16)
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(STATE)

.PHONY: demo test test-peers lint format docs bench bench-choosing bench-peers picture clean

demo: .venv/.core
	@$(BIN)/python -m dataworth.demo

test: .venv/.dev
	@scripts/browser
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # with --quiet, warnings would pass
	@echo "The site is in site/: open site/index.html"

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.sampling
	$(BIN)/python -m benchmarks.scale

# Needs DATAWORTH_DATA, the folder of the data sets; writes docs/choosing-table.md.
bench-choosing: .venv/.dev
	$(BIN)/python -m benchmarks.choosing

# Each peer in an environment of its own under benchmarks/peers/.envs. shapiq needs Python 3.12:
# PEERS_PYTHON names one where `python3.12` is not on the path. DATAWORTH_DATA is the folder of data.
bench-peers: .venv/.dev
	$(BIN)/python -m benchmarks.peers

# Their warnings are not ours to mend, so that warnings are no errors here.
test-peers: .venv/.dev
	@$(BIN)/python -m benchmarks.peers.environments; failed=$$?; \
	for stamp in benchmarks/peers/.envs/*/made-from; do \
		echo "tests where $$(basename $$(dirname $$stamp)) is installed:"; \
		$$(dirname $$stamp)/bin/python -m pytest -q -W ignore -p no:cacheprovider tests/peers \
			src/dataworth/integrations || failed=1; \
	done; exit $$failed

picture: .venv/.dev
	$(BIN)/python docs/picture.py
	$(BIN)/python -m docs.architecture

clean:
	find src tests benchmarks -name __pycache__ -exec rm -rf {} +
	rm -rf .venv benchmarks/peers/.envs .numba_cache .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis dist build site

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ .venv/.core

.venv/.docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@ .venv/.core

# Everything runs in .venv, which is made on first use and remade when pyproject.toml changes.
PYTHON ?= python3
SHELL := bash
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-paper test-peers fuzz kills coverage lint lint-code lint-format lint-types format \
	docs dist bench bench-choosing bench-peers picture clean

demo: .venv/.core
	@$(BIN)/python -m dataworth.demo

test: .venv/.dev
	@bash scripts/browser
	$(BIN)/python -m pytest --ignore=tests/paper --numprocesses auto --dist worksteal

# The experiments of the paper. They need torch, which is large and which nothing else uses.
test-paper: .venv/.paper
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile paper tests/paper

# Random games against enumeration; what fails is shrunk and kept in tests/fuzz/cases. SEED=S draws
# the same games again.
SECONDS ?= 600
fuzz: .venv/.dev
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# A hundred kills at random moments; ends with an error if a bit of a result changes.
kills: .venv/.dev
	$(BIN)/python -m tests.kills

# Compiled code cannot be traced: some small games run once more without the compiler.
UNCOMPILED := tests/games tests/weights tests/test_explanation.py \
	-k "(enumeration and 11) or weights or explanation"
coverage: .venv/.dev
	@bash scripts/browser
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest --numprocesses auto --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest --numprocesses auto $(UNCOMPILED)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

lint: lint-code lint-format lint-types

lint-code: .venv/.dev
	$(BIN)/ruff check .

lint-format: .venv/.dev
	$(BIN)/ruff format --check .

lint-types: .venv/.dev
	$(BIN)/mypy

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # with --quiet, warnings would pass
	@echo "The site is in site/: open site/index.html"

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What users would install, tried in a new environment, where the sources cannot be found.
dist: .venv/.dev
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m venv build
	$(BIN:.venv/%=build/%)/python -m pip install --quiet --disable-pip-version-check dist/*.whl twine
	$(BIN:.venv/%=build/%)/python -m twine check --strict dist/*
	cd build && $(BIN:.venv/%=%)/python -m dataworth.demo

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
	find src paper tests benchmarks -name __pycache__ -exec rm -rf {} +
	rm -rf .venv benchmarks/peers/.envs .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis dist build site

.venv/pyvenv.cfg:
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | .venv/pyvenv.cfg
	$(INSTALL) --editable .
	@touch $@

.venv/.dev: pyproject.toml | .venv/pyvenv.cfg
	$(INSTALL) --editable ".[dev]"
	@touch $@ .venv/.core

.venv/.paper: pyproject.toml | .venv/pyvenv.cfg
	$(INSTALL) --editable ".[dev,paper]"
	@touch $@ .venv/.dev .venv/.core

.venv/.docs: pyproject.toml | .venv/pyvenv.cfg
	$(INSTALL) --editable ".[docs]"
	@touch $@ .venv/.core

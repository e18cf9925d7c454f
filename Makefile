# Everything runs in .venv, which is made on first use and remade when pyproject.toml changes.
PYTHON ?= python3
SHELL := bash
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := -m pip install --quiet --disable-pip-version-check
INSTALL := $(BIN)/python $(PIP)
JOBS ?= auto
SUITE := -m pytest --ignore=tests/paper --numprocesses $(JOBS) --dist worksteal

.PHONY: demo test test-minimum test-python test-optimized test-paper test-peers fuzz kills \
	coverage lint lint-code lint-format lint-types format \
	docs dist bench bench-choosing bench-peers picture clean

demo: .venv/.core
	@$(BIN)/python -m dataworth.demo

test: .venv/.dev
	@bash scripts/browser
	$(BIN)/python -m tests.warm_up
	$(BIN)/python $(SUITE)

# The lowest versions that pyproject.toml declares, on the oldest Python: OLDEST names one where
# `python3.11` is not on the path.
OLDEST ?= python3.11
test-minimum: .venv-minimum/.dev
	$(BIN:.venv/%=.venv-minimum/%)/python -m tests.warm_up
	$(BIN:.venv/%=.venv-minimum/%)/python $(SUITE)

# The newest versions on another Python, such as make test-python PYTHON=python3.13.
test-python: .venv-$(notdir $(PYTHON))/.dev
	$(BIN:.venv/%=.venv-$(notdir $(PYTHON))/%)/python -m tests.warm_up
	$(BIN:.venv/%=.venv-$(notdir $(PYTHON))/%)/python $(SUITE)

# As with python -O, also in the processes that tests start: no assert of the package is run. Those
# of the tests are, as pytest writes them anew.
test-optimized: .venv/.dev
	PYTHONOPTIMIZE=1 $(BIN)/python $(SUITE) -W "ignore:assertions not in test modules"

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
	$(BIN)/python -m benchmarks.out_of_bag
	$(BIN)/python -m benchmarks.times

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
	$(BIN)/python -m docs.loop_picture
	$(BIN)/python -m docs.report_picture
	$(BIN)/python -m docs.architecture

clean:
	find src paper tests benchmarks -name __pycache__ -exec rm -rf {} +
	rm -rf .venv .venv-* benchmarks/peers/.envs .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis dist build site

.venv/pyvenv.cfg:
	$(PYTHON) -m venv .venv

.venv-minimum/.dev: pyproject.toml scripts/minimums.py
	$(OLDEST) -m venv --clear .venv-minimum
	pins=$$($(OLDEST) -m scripts.minimums dev) && \
		$(BIN:.venv/%=.venv-minimum/%)/python $(PIP) --editable . $$pins
	@touch $@

.venv-python%/.dev: pyproject.toml
	$(PYTHON) -m venv --clear $(@D)
	$(BIN:.venv/%=$(@D)/%)/python $(PIP) --editable ".[dev]"
	@touch $@

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

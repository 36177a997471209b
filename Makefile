# `make demo` and `make test` need Python 3.10 or newer, and nothing else: what they install goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

.PHONY: demo test quick compiled test-compiled editors test-editors lint update docs dist clean

# Exit code 1 of `check` says that there are findings, which is the point of the examples.
demo: $(VENV)/.installed
	@$(BIN)/autograd-lsp check examples/ || test $$? -eq 1

test: lint
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# While one works: what `tests/quick.py` lists. It does not take the place of `make test`.
quick: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 $$($(BIN)/python -m tests.quick) $(PYTEST_ARGS)

# A copy in build/compiled, of what is committed, with the hot modules compiled by mypyc; and the same tests on it. Needs a C
# compiler, and some minutes for it.
COMPILED := $(CURDIR)/build/compiled
compiled: $(VENV)/.installed-test
	rm -rf $(COMPILED)
	git clone --quiet . $(COMPILED)
	cd $(COMPILED) && AUTOGRAD_LSP_COMPILE=1 $(CURDIR)/$(BIN)/python setup.py --quiet build_ext --inplace --parallel 2

test-compiled: compiled
	cd $(COMPILED) && PYTHONPATH=$(COMPILED) $(CURDIR)/$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# Real editors for `make test-editors`: VS Code's workbench on Linux on x86-64 with npm, the others where apt can download
# them. It says what cannot be had. Downloads go into .cache; Chromium and tmux are installed by apt where they are not there.
editors: $(VENV)/.installed-editors
	$(BIN)/python -m tests.editors.tools

# What was to be seen goes into build/screenshots. A test that takes longer than any can ends the run, with a traceback.
test-editors: editors
	AUTOGRAD_LSP_EDITORS=1 $(BIN)/python -m pytest tests/editors tests/playground -rs -o faulthandler_timeout=1200 \
		-o faulthandler_exit_on_timeout=true $(PYTEST_ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Pages that are generated are written anew; `make test` fails where they are stale.
update: $(VENV)/.installed-test
	$(BIN)/python tools/generate_rule_pages.py
	$(BIN)/python tools/generate_pictures.py
	$(BIN)/python tools/generate_schemas.py
	$(BIN)/python tools/generate_man_page.py
	$(BIN)/python -m tests.project.tables
	$(BIN)/python -m tests.docs
	$(BIN)/ruff format .

# The documentation as a site, in build/site; where npm can bring what it is made of, with the playground.
docs: $(VENV)/.installed-docs
	$(BIN)/python tools/build_site.py build/site
	$(BIN)/python tools/build_playground.py build/site/playground

# What is released, into dist/. Needs git, npm and a C compiler.
dist: $(VENV)/.installed-release
	$(BIN)/python -m tools.release

clean:
	rm -rf $(VENV) .cache build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-editors: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,editors]'
	touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(VENV)/.installed-release: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	touch $@ $(VENV)/.installed

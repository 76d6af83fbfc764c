# The two commands that need nothing before them: `make verify` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= reports/out
READY := $(VENV)/ready

.PHONY: setup verify test lint bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else f"Python 3.11 or newer is required, got {sys.version.split()[0]}; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[numeric,cluster,test]'
	touch $@

verify: $(READY)
	$(BIN)/certiformer verify --out $(OUT)

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright --project pyproject.toml --pythonpath $(BIN)/python

bench: $(READY)
	$(BIN)/python tests/benchmarks/run.py

clean:
	rm -rf $(VENV) $(OUT) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache

# The two commands that need nothing before them: `make verify` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= reports/out
DEVICE ?= cuda
SIZE ?= full
READY := $(VENV)/ready

.PHONY: setup verify test lint bench trust browser gpu clean

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
	$(BIN)/python tests/benchmarks/draws.py
	$(BIN)/python tests/benchmarks/machines.py --long
	$(BIN)/python tests/benchmarks/lower_bounds.py
	$(BIN)/python tests/benchmarks/minimal.py
	$(BIN)/python tests/benchmarks/learning.py
	$(BIN)/python tests/benchmarks/desk.py

# What the tests do in small, in earnest: about an hour on two cores.
trust: $(READY)
	$(BIN)/certiformer mutate --out $(OUT)
	$(BIN)/python tests/trust/corruptions.py
	$(BIN)/python tests/trust/kills.py --profile quick --times 20
	$(BIN)/python tests/trust/kills.py --profile standard --times 3
	$(BIN)/python tests/trust/cluster.py --profile quick
	$(BIN)/python tests/trust/wheel.py
	$(BIN)/python tests/trust/wheel.py --extra numeric

# The page of OUT, driven as a reader would in a Chromium that is already there.
browser: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	$(BIN)/python tests/browser/drive.py $(OUT)/index.html --screenshots $(OUT)/screenshots

# References first, on the CPU; what is measured and trained on DEVICE joins the pages of OUT.
gpu: $(READY)
	$(BIN)/python tests/gpu/run.py prepare --size $(SIZE) --out $(OUT)/gpu.npz
	$(BIN)/python tests/gpu/run.py measure $(OUT)/gpu.npz --device $(DEVICE) --out $(OUT)/gpu.json
	$(BIN)/python tests/gpu/learning.py --device $(DEVICE) --size $(SIZE) --out $(OUT)/runs

clean:
	rm -rf $(VENV) $(OUT) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache

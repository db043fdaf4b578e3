# `make setup` makes .venv, `make verify` judges the paper, `make test` judges this code. Each sets up .venv where it is missing.
PYTHON ?= python3
BIN := .venv/bin
# In this mode a folder of the user's that is called `constructions` does not hide the package.
EDITABLE := --config-settings editable_mode=compat --editable
# Where the environment forbids Python to keep what it compiles, each process that a test starts compiles all it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup verify test hostile export-test sweep-test extras-test fuzz check bench coverage docs picture clean

setup: .venv/ready

verify: .venv/ready
	mkdir -p build
	$(BIN)/python -m pytest verify/ --n-max 10000 -q -n 2 --ledger build/ledger.json

test: .venv/ready
	$(BIN)/python -m pytest tests -q -n 2 -m "not exports and not hostile"

# Whatever may be done to a command. To try another abuse, add a line to tests/hostile/abuses.py, or a command to commands.py.
hostile: .venv/ready
	$(BIN)/python -m pytest tests/hostile -q -n 2
	$(BIN)/python -m pytest tests/circuits -q -n 2 -m hostile

# Exports in the runtimes of others, 200 inputs each. One process has all that asks one runtime, which is started once.
export-test: .venv/ready
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt $(EDITABLE) '.[export,lens]'
	$(BIN)/python -m pytest tests/exports -q -n 2 --dist loadfile

# Claims on a Dask cluster, and ledgers in Parquet: nothing else needs these packages.
sweep-test: .venv/ready
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt $(EDITABLE) '.[dask,parquet]'
	$(BIN)/python -m pytest tests/verify/test_cluster.py tests/verify/test_parquet.py -q -n 2

# What is tried of all extras in CI: those, and exports in each runtime on a few inputs.
extras-test: sweep-test
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt $(EDITABLE) '.[export,lens]'
	$(BIN)/python -m pytest tests/exports -q -n 2 --dist loadfile -m "not exports" -k "onnx or huggingface or transformerlens"

# Fresh random cases, one process a core. What fails is kept in .hypothesis, and `make test` tries it again.
MINUTES ?= 10
fuzz: .venv/ready
	$(BIN)/python -m pytest verify/ tests/ --fuzz $(MINUTES) --engine all -q

check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python -m tests.bench.engines --n-max 100000 --write docs
	$(BIN)/python -m tests.bench.commands --n-max 100000 --write docs
	$(BIN)/python -c "import scipy" 2> /dev/null || $(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt scipy
	$(BIN)/python -m tests.bench.softmax --write docs

# Which branches the tests take. It needs coverage and pytest-cov, and nothing else does.
coverage: .venv/ready
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt 'coverage>=7.6' 'pytest-cov>=6'
	$(BIN)/python -m pytest tests -q -n 2 -m "not exports and not hostile" --cov --cov-report=

# The pages of docs/ as a site in build/site, which opens without a server. Its packages are fetched once, and nothing else needs them.
# The theme is maintained until May 2027, which it would say at each build. Its successor, zensical, reads mkdocs.yml too.
docs: export NO_MKDOCS_2_WARNING = 1
docs: .venv/ready
	$(BIN)/python -c "import material, mkdocstrings_handlers.python" 2> /dev/null || $(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt $(EDITABLE) '.[docs]'
	$(BIN)/python -m verify.findings --into docs/findings.md
	$(BIN)/mkdocs build --strict --site-dir build/site

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt $(EDITABLE) '.[dev]'
	touch $@

# The picture of the README: a page of a run, at a token in its middle. It needs Chromium.
picture: .venv/ready
	mkdir -p build
	$(BIN)/python -m constructions.istree --edges "1-2,3-1,1-4" --html build/page.html --force
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1280,735 --virtual-time-budget=4000 --screenshot=docs/page.png "file://$(CURDIR)/build/page.html#14"

clean:
	rm -rf .venv

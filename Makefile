# Everything runs from a fresh checkout with only Python (>= 3.11) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled to bytecode when they are first imported, which only a few of them are.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --quiet --no-compile
# Bytecode is kept whatever the environment says: the tests start hundreds of interpreters.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal
FLOOR_TESTS := $(addprefix tests/,api cli data export fuzz graph knowledge network plot score search test_estimator.py test_result.py)
ENGINE := $(wildcard $(addprefix src/sges/engine/,CMakeLists.txt *.cpp *.hpp scores/*.cpp scores/*.hpp))

# Builds of the engine for its own tests: each is configured once, and compiled as far as it changed.
NATIVE := build/native
CMAKE := PATH="$(CURDIR)/$(BIN):$$PATH" cmake
CHECKED := -DCMAKE_BUILD_TYPE=Debug -DSGES_TESTS=ON -DSGES_WARNINGS_ARE_ERRORS=ON \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g -D_GLIBCXX_ASSERTIONS" -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python
# Leaks are not checked at exit of Python, which leaks much itself; the unit tests check the engine's.
UNDER_SANITIZERS = PYTHONPATH=$(NATIVE)/package PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
  LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)"

.PHONY: help install-libraries install-package demo test test-all test-browser test-cluster test-tools test-native check lint types contracts format docs site wheel bench fuzz torture test-floors clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The engine is compiled while the libraries are downloaded and installed.
INSTALL = $(PIP) $$($(BIN)/python scripts/requirements.py --build) \
  && $(MAKE) --no-print-directory --jobs=2 install-libraries install-package

$(VENV)/.installed: pyproject.toml $(ENGINE)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sges needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 2; }
	@echo "sges: making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL)
	@touch $@

# One installation, because each compiles the engine.
$(VENV)/.installed-test: pyproject.toml $(ENGINE)
	@echo "sges: making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) EXTRA=test
	@touch $(VENV)/.installed $@

install-libraries:
	@echo "sges: downloading and installing libraries; this may take a minute"
	@$(BIN)/python scripts/requirements.py $(EXTRA) > $(VENV)/requirements.txt
	@$(PIP) --requirement $(VENV)/requirements.txt

# Without isolation, so that only what changed is compiled again; CMake is installed where it is missing.
install-package:
	@echo "sges: compiling the engine"
	@$(BIN)/python -c "import scikit_build_core.build as b; print(*b.get_requires_for_build_editable(), sep='\n')" \
	  > $(VENV)/build.txt
	@$(PIP) --requirement $(VENV)/build.txt
	@$(PIP) --no-deps --no-build-isolation --config-settings=build-dir=build/engine --editable .

demo: $(VENV)/.installed  ## Install, then learn from a bundled example
	@$(BIN)/python -m sges demo

test: check  ## All checks: format, lint, types, contracts, tests
	$(PYTEST) -m "not slow and not browser and not cluster"

test-all: check  ## All checks, including the slow exhaustive tests, with more random examples
	SGES_HYPOTHESIS=all $(PYTEST)

# Debian and Ubuntu: apt install chromium; elsewhere Chromium or Chrome from their own sites.
test-browser: $(VENV)/.installed-test  ## Test the report in headless Chromium, which must be installed
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null \
	  || { echo "no browser: install one with 'apt install chromium'"; exit 2; }
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -v -m browser tests/browser

test-cluster: $(VENV)/.installed-test  ## Test with a local Dask cluster whose workers are killed; installs Dask
	$(PIP) --editable '.[dask,test]'
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -v -m cluster tests/cluster

# In a separate environment: DoWhy needs an older SciPy.  The import ensures that nothing is skipped.
TOOLS_VENV := build/tools-venv
$(TOOLS_VENV)/.installed: pyproject.toml $(ENGINE)
	$(PYTHON) -m venv $(TOOLS_VENV)
	$(TOOLS_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --quiet --editable '.[test,tools]'
	@touch $@

test-tools: $(TOOLS_VENV)/.installed  ## Test the exports to other libraries, with all of them installed
	$(TOOLS_VENV)/bin/python -c 'import causallearn, cliquepicking, dowhy, gadjid, igraph, pgmpy, pyagrum, pydot, semopy'
	OPENBLAS_NUM_THREADS=1 $(TOOLS_VENV)/bin/python -m pytest -m "not slow" tests/export tests/graph/test_counting.py \
	  tests/network/test_bif.py tests/test_metrics.py tests/api/test_wrong_types.py

# By GCC and by Clang: the unit tests under each sanitizer and with plain C++.  Then, by GCC, the module
# under address and undefined sanitizers, and the tests of Python with it.
test-native: $(VENV)/.installed-test  ## Test the engine under sanitizers, with warnings as errors; needs g++ and clang++
	for compiler in g++ clang++; do \
	  for kind in address,undefined thread plain; do \
	    case $$kind in plain) how=-DSGES_PLAIN=ON;; *) how=-DSGES_SANITIZE=$$kind;; esac; \
	    $(CMAKE) -S src/sges/engine -B $(NATIVE)/$$compiler-$$kind $(CHECKED) -DSGES_MODULE=OFF \
	      -DCMAKE_CXX_COMPILER=$$compiler $$how > /dev/null \
	      && $(CMAKE) --build $(NATIVE)/$$compiler-$$kind --parallel && $(NATIVE)/$$compiler-$$kind/engine_tests || exit; \
	  done || exit; \
	done
	$(CMAKE) -S src/sges/engine -B $(NATIVE)/module $(CHECKED) -DSGES_TESTS=OFF -DCMAKE_CXX_COMPILER=g++ \
	  -DSGES_SANITIZE=address,undefined > /dev/null
	$(CMAKE) --build $(NATIVE)/module --parallel
	rm -rf $(NATIVE)/package && mkdir $(NATIVE)/package && cp -R src/sges $(NATIVE)/package
	cp $(NATIVE)/module/native*.so $(NATIVE)/package/sges/engine
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest -p no:cacheprovider -m "not slow" tests/engine tests/search

check: lint types contracts

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.installed-test
	$(BIN)/mypy

contracts: $(VENV)/.installed-test
	$(BIN)/lint-imports

format: $(VENV)/.installed-test  ## Format and fix automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed-test  ## Update the pages that are generated from the code
	$(BIN)/python scripts/paper_map.py
	$(BIN)/python scripts/cli_reference.py

# In a separate environment.  cdt is installed only for its data: without its dependencies, and not imported.
SITE_VENV := build/site-venv
$(SITE_VENV)/.installed: pyproject.toml $(ENGINE)
	$(PYTHON) -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --quiet --editable '.[docs]'
	$(SITE_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --quiet --no-deps 'cdt==0.6.0'
	@touch $@

site: $(SITE_VENV)/.installed  ## Build the documentation in build/site/html; SITE="--without wide" is shorter
	OPENBLAS_NUM_THREADS=1 $(SITE_VENV)/bin/python scripts/site.py $(SITE)

bench: $(VENV)/.installed-test  ## Compare with other programs, each in its own environment; BENCH=--quick is short
	$(BIN)/python -m studies standard $(BENCH)

fuzz: $(VENV)/.installed-test  ## Pass mutated files to every reader, in separate processes; FUZZ="csv --inputs 1000"
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz $(FUZZ)

torture: $(VENV)/.installed-test  ## Let writers die or fail at each file event; TORTURE="learn --ends SIGKILL"
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m torture $(TORTURE)

# The lowest allowed versions that have wheels for this Python; the test tools have their usual versions.
# Two tests of the estimators fail within scikit-learn 1.6 itself: one of its checks subtracts floats
# from integers in place, and it tries to use a pandas that cannot be imported.
FLOORS := build/floors
FLOOR_DESELECTED := --deselect tests/test_estimator.py::test_every_check_of_scikit_learn_passes \
  --deselect tests/test_estimator.py::test_without_pandas_the_matrix_is_an_array
test-floors: $(VENV)/.installed-test  ## Test with the lowest versions of the libraries that sges depends on
	$(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip install --disable-pip-version-check --quiet uv
	printf 'pandas>=2.2.2\npolars>=1.8\n' > $(FLOORS)/frames.in
	$(FLOORS)/bin/uv pip compile --quiet --python $(FLOORS)/bin/python --only-binary :all: \
	  --resolution lowest-direct pyproject.toml $(FLOORS)/frames.in --output-file $(FLOORS)/floors.txt
	$(FLOORS)/bin/uv pip install --quiet --python $(FLOORS)/bin/python -r $(FLOORS)/floors.txt \
	  pytest pytest-xdist hypothesis
	PYTHONPATH=$(CURDIR)/src OPENBLAS_NUM_THREADS=1 $(FLOORS)/bin/python -m pytest -p no:cacheprovider \
	  -o filterwarnings=default --numprocesses auto -m "not slow" $(FLOOR_TESTS) $(FLOOR_DESELECTED)

# The wheel is tested outside of the checkout, without its compiled files.
WHEEL_VENV := build/wheel-venv
wheel: $(VENV)/.installed-test  ## Build sdist and wheel in dist/, and test the installed wheel
	rm -rf dist $(WHEEL_VENV)
	$(PIP) build
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --quiet dist/*.whl
	cd $(WHEEL_VENV) && bin/python -P $(CURDIR)/scripts/smoke_test.py

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

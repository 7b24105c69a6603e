# Every target sets up what it needs; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin

# tests start Python some hundred times: what it compiles is kept
export PYTHONDONTWRITEBYTECODE =
# a file's tests run beside each other, so that what they share is started once; the order of the
# files is that of tests/conftest.py: the longest first, so that none is waited for at the end
export PYTEST_ADDOPTS = --dist loadfile --no-loadscope-reorder

HOST_CLIENTS := .host-clients/installed.lock

.PHONY: demo demo-web test test-full test-hosts quick lint check size compare coverage mutants bench bench-search bench-recall bench-drift bench-model bench-loop figures recording docs version release clean

demo: $(BIN)/mdmemory
	$(BIN)/mdmemory demo

# the pages in your browser, on a made-up project in a temporary folder
demo-web: $(BIN)/mdmemory
	$(BIN)/python tests/web/open_demo.py

test: $(BIN)/mdmemory client browser
	$(BIN)/python -m pytest -n auto

# whole matrices, long lives and every client, without a limit of time
test-full: $(BIN)/mdmemory client browser
	failed=0; MDMEMORY_TEST_FULL=1 MDMEMORY_TEST_HOSTS=$(if $(wildcard $(HOST_CLIENTS)),1) \
		$(BIN)/python -m pytest -n auto || failed=1; \
	test -e $(HOST_CLIENTS) || echo "NOT RUN: Claude Code, Codex and Gemini CLI;" \
		"\`make test-hosts\` installs them (740 MB) and runs their tests." >&2; \
	exit $$failed

# in the real Claude Code, Codex and Gemini CLI, which it installs (740 MB)
test-hosts: $(BIN)/mdmemory client hosts
	MDMEMORY_TEST_HOSTS=1 $(BIN)/python -m pytest -n auto -m hosts

# what needs no repository, client or server, and takes less than a second
quick: $(BIN)/mdmemory
	$(BIN)/python -m pytest -n logical -m "not slow"

lint: $(BIN)/mdmemory
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

check: lint test

# how large each part is beside its mark and its target; RECORD=1 lowers the marks (tests/size.toml)
size: $(BIN)/mdmemory
	$(BIN)/python tests/size.py $(if $(RECORD),--record)

# lines that no test in this process runs; what tests start as a process of its own is not counted
coverage: $(BIN)/mdmemory
	$(BIN)/python -m pytest -n auto -m "not slow" --cov=mdmemory --cov-report=term:skip-covered

# what a change did to size, traced paths and speed: make compare BASE=origin/main
compare: $(BIN)/mdmemory
	$(BIN)/python tests/compare.py $(BASE) $(WITH)

# small wrong changes that no test sees
SAMPLE ?= 100
SEED ?= 1
mutants: $(BIN)/mdmemory
	$(BIN)/python tests/mutants/run.py --sample $(SAMPLE) --seed $(SEED)

# what every command, hook and tool costs beside its floor (docs/figures.md), and how well search
# and recall find; all of it, even where one missed its target
SIZES ?= 1000,10000
bench: $(BIN)/mdmemory
	missed=0; $(BIN)/python tests/bench/run.py --sizes $(SIZES) $(WITH) || missed=1; \
	for each in search recall search_speed web; do \
		$(BIN)/python tests/bench/$$each.py || missed=1; \
	done; exit $$missed

# how well search finds: on the project's own notes, or on DATA (docs/figures.md); more options in WITH
bench-search: $(BIN)/mdmemory
	$(BIN)/python tests/bench/search.py $(if $(DATA),"$(DATA)") $(WITH)

# which notes go along with a message: on the project's own messages, or on DATA; more in WITH
bench-recall: $(BIN)/mdmemory
	$(BIN)/python tests/bench/recall.py $(if $(DATA),"$(DATA)") $(WITH)

# whether notes know what changed in the code that they cite; another history: WITH="own --repo PATH"
bench-drift: $(BIN)/mdmemory
	$(BIN)/python tests/bench/drift.py $(WITH)

# what a model of your choice keeps, merges and costs: docs/models.md; WITH=--local takes the
# smallest one in a package, which it installs into .bench-model (200 MB)
bench-model: $(BIN)/mdmemory
	$(BIN)/python tests/bench/model.py $(WITH)

# how turns over notes end, with the model of BENCH_MODEL, or WITH="--answers FILE" or "--floor"
CASES ?= tests/bench/loop/half1.jsonl tests/bench/loop/half2.jsonl
bench-loop: $(BIN)/mdmemory
	$(BIN)/python tests/bench/loop.py $(CASES) $(WITH)

# docs/figures.md again, but for what needs a model, the clients or PostgreSQL
figures: size bench-drift
	$(BIN)/python tests/privacy/secret_corpus.py
	$(BIN)/python tests/bench/compaction_tokens.py
	cd tests/bench/merge_halves && ../../../$(BIN)/python ../merges.py half2.jsonl --answers answers2.jsonl
	cd tests/bench/loop && ../../../$(BIN)/python ../loop.py half2.jsonl --answers answers2.jsonl
	-$(BIN)/python tests/bench/checking.py
	-$(MAKE) bench

# the documents as a site in build/docs, which opens from the disk and fetches nothing
export NO_MKDOCS_2_WARNING = 1
docs: $(BIN)/mkdocs
	$(BIN)/mkdocs build
	@echo "Open build/docs/index.html"

$(BIN)/mkdocs: $(BIN)/mdmemory
	$(BIN)/uv pip install --quiet --python $(BIN)/python \
		--constraint requirements-dev.txt --editable '.[docs]'
	touch $@

# docs/images/demo.svg, from a session that is played in the real OpenCode
recording: $(BIN)/mdmemory client
	PYTHONPATH=tests:tests/e2e $(BIN)/python tests/recording/record.py

# sets the version in all files that name it, and dates the changes: make version V=0.2.0
version: $(BIN)/mdmemory
	$(BIN)/python tests/release/set_version.py $(V)

# build/dist, tried on each Python that is here, or on those of PYTHONS="3.12 3.13"
release: $(BIN)/mdmemory
	$(BIN)/python tests/release/run.py $(PYTHONS)

# uv, inside the .venv, installs several times faster than pip; it is told to trust the certificates
# that the system trusts, as pip does, and neither keeps a cache in your home
export UV_SYSTEM_CERTS = 1
export UV_NO_CACHE = 1
export PIP_NO_CACHE_DIR = 1
OFFLINE := { echo "Python packages could not be fetched: see above, and run make again." >&2; exit 1; }
$(BIN)/mdmemory: pyproject.toml requirements-dev.txt
	@PYTHON="$(PYTHON)" sh .ci/needs python git
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv || $(OFFLINE)
	$(BIN)/uv pip install --quiet --python $(BIN)/python \
		--constraint requirements-dev.txt --editable '.[dev]' \
		|| $(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# the newest versions that fit pyproject.toml, pinned for the next run of the tests
.PHONY: lock
lock: $(BIN)/mdmemory
	{ echo '# The versions that the tests were last run with; `make lock` writes this file.'; \
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --extra docs \
		--no-emit-index-url --no-annotate --no-header pyproject.toml; } > requirements-dev.new
	mv requirements-dev.new requirements-dev.txt

.PHONY: client
client:
	sh tests/e2e/client/install

# what the tests of the pages need: axe, and a chromium where the system has none
.PHONY: browser
browser:
	sh tests/e2e/axe/install
	for each in chromium chromium-browser google-chrome; do \
		command -v $$each >/dev/null && exit 0; done; sh tests/e2e/chromium/install

.PHONY: hosts
hosts:
	sh tests/e2e/hosts/install

clean:
	rm -rf .venv .opencode-client .host-clients .web-clients .bench-model build .mypy_cache .ruff_cache .hypothesis .coverage*

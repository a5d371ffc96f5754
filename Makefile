# Every target makes ready what it needs. `make demo` and `make test` work on a bare Debian 12 as root.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format test-services test-browser bench-web bench bench-recall bench-cluster bench-engines bench-mcp fuzz corpus torture crowd soak lock samples docs site clean

PYTHON ?=
BIN := .venv/bin
# The model runtime reports home unless told not to before it is loaded, and its threads spin.
export ORT_DISABLE_TELEMETRY := 1
export OMP_WAIT_POLICY := passive

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-13s %s\n", $$1, $$2}'

setup:  ## install what is missing: system packages, .venv, locked dependencies
	@PYTHON="$(PYTHON)" .ci/setup.sh

demo: setup  ## take the samples through the whole flow and recall from them, offline
	@$(BIN)/muniment demo

test: setup  ## run the tests; ARGS="tests/unit -k words" narrows them
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

test-services: setup  ## install what real services need (Ray and the like) and run the tests that use them
	.ci/services.sh $(ARGS)

test-browser: setup  ## drive the pages in a real Chromium, installed first; screenshots in build/screenshots
	.ci/browser.sh $(ARGS)

lint: setup  ## check style, format, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## measure the costs that the documentation promises; ARGS="--growth" for more
	$(BIN)/python tests/bench/measure.py $(ARGS)

bench-recall: setup  ## measure ranking and coverage on public sets beside the checkout; ARGS="locomo --no-embed"
	$(BIN)/python tests/bench/bench_recall.py --json build/bench-recall.json $(ARGS)

bench-engines: setup  ## compare the SQLite and PostgreSQL indexes: answers and latency; ARGS="--passages 100000 --vectors 384"
	$(BIN)/python tests/bench/bench_index_engines.py --answers locomo cmrc $(ARGS)

bench-cluster: setup  ## measure observe on 1, 2 and 4 nodes and the rate of commits; needs what test-services installs
	$(BIN)/python tests/bench/bench_cluster.py $(ARGS)

bench-mcp: setup  ## measure memory_recall of a warm server over 100,000 passages; ARGS="20000"
	$(BIN)/python tests/bench/bench_mcp.py $(ARGS)

bench-web: setup  ## measure how soon pages are painted over 100,000 assets, in Chromium; ARGS="10000" for fewer
	$(BIN)/python tests/bench/bench_web.py $(ARGS)

corpus: setup  ## ingest the public files beside the checkout, twice
	$(BIN)/python tests/bench/corpus.py $(ARGS)

torture: setup  ## fail a whole run at every point of writing in turn; ARGS="--every 20" for a sample
	$(BIN)/python tests/torture/run.py $(ARGS)

crowd: setup  ## two writers, four readers and a backup every few seconds; ARGS="--seconds 60"
	$(BIN)/python tests/torture/crowd.py $(ARGS)

soak: setup  ## call an MCP server a thousand times from parallel clients; ARGS="--calls 200 --transport http"
	$(BIN)/python tests/torture/soak.py $(ARGS)

fuzz: setup  ## read thousands of damaged files, the same each time; ARGS="--inputs 500 --seed 2"
	$(BIN)/python tests/fuzz/run.py $(ARGS)

lock: setup  ## resolve the dependencies again; ARGS="--upgrade" takes newer ones
	.ci/lock.sh $(ARGS)

samples: setup  ## make the sample files again
	$(BIN)/python samples/make_samples.py

docs: setup  ## write the generated reference pages
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/manual_page.py

site: setup  ## build the documentation as pages in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove the environment and every cache
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

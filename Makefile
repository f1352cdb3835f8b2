# Newcomers type `make run` and `make test`. Where there is no make: python -m helpers setup, then python -m helpers run.
PYTHON ?= python3
COURSE = $(shell $(PYTHON) -c "from helpers import interpreters; print(interpreters.course_python())")

.PHONY: run test test-full nbval nbval-npu evidence evidence-merge bench lab kernel notebooks lint lock clean setup
.DEFAULT_GOAL := run

setup:     ; @$(PYTHON) -m helpers setup
run:       ; @LAB_BEGAN=$$(date +%s) sh -c '$(PYTHON) -m helpers setup && exec $(PYTHON) -m helpers run'
test:      setup ; @$(COURSE) -m pytest
test-full: setup ; @$(COURSE) -m pytest --full
nbval:     setup ; @$(COURSE) tests/notebooks/regression.py $(LABS)
nbval-npu: setup ; @$(COURSE) tests/notebooks/regression.py --npu $(LABS)
evidence:  setup ; @$(COURSE) -m helpers evidence pack $(RUN)
evidence-merge: setup ; @$(COURSE) -m helpers evidence merge $(FILE) && $(COURSE) course/claims.py
bench:     setup ; @$(COURSE) tests/benchmarks/run.py $(BENCH)
lint:      setup ; @$(COURSE) -m ruff check . && $(COURSE) -m ruff format --check . && $(COURSE) -m mypy
lab:       ; @$(PYTHON) -m helpers setup --lab
kernel:    ; @$(PYTHON) -m helpers setup --kernel
notebooks: setup ; @$(COURSE) course/build.py --execute $(or $(EXECUTE),changed) $(LABS)
lock:      ; @$(PYTHON) -m helpers.setup.lock
clean:     ; @rm -rf build .pytest_cache .ruff_cache .mypy_cache .hypothesis

# make run     installs into .venv, runs the main job on whatever this machine has
# make test    the same for the test suite
# make check   everything that reads the code: linters, formatters, types, import rules, spelling
# make format  rewrites Python and CUDA sources in the project's format
# make clean   removes what the others made
#
# CUDA=12 or CUDA=13 chooses the CUDA wheels; without it the driver decides. PYTHON chooses the
# interpreter; ARGS are passed on: make run ARGS="softmax --dtype float32", make test ARGS="-k cost".

.DELETE_ON_ERROR:
.PHONY: run test check format clean

# Relative, so that the checkout's own path may hold spaces.
VENV := .venv
COMMA := ,
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
endif

# CUDA 13 needs driver 580 or newer. With no driver there is nothing to be too old for.
ifndef CUDA
CUDA := $(shell major=$$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 | cut -d . -f 1); \
    case "$$major" in ("" | *[!0-9]*) echo 13 ;; (*) if [ "$$major" -ge 580 ]; then echo 13; else echo 12; fi ;; esac)
endif
ifeq ($(filter 12 13,$(CUDA)),)
$(error CUDA must be 12 or 13, got "$(CUDA)": write make CUDA=12 or make CUDA=13)
endif

RUN_READY := $(VENV)/.ready-cuda$(CUDA)
TEST_READY := $(VENV)/.ready-cuda$(CUDA)-test
DEV_READY := $(VENV)/.ready-cuda$(CUDA)-dev
INPUTS := pyproject.toml rooflens/version.py
CUDA_SOURCES = find kernels profiler tests -type f \( -name '*.cu' -o -name '*.cuh' \)

run: $(RUN_READY)
	@$(PY) -m rooflens run $(ARGS)

test: $(TEST_READY)
	@$(PY) -m pytest $(ARGS)

check: $(DEV_READY)
	$(PY) -m ruff check --quiet .
	$(PY) -m ruff format --check --quiet .
	$(PY) -m mypy --no-error-summary
	@echo $(PY) -m pyright
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(PY) -m pyright --pythonpath $(PY)
	$(VENV)/bin/lint-imports
	$(PY) -m codespell_lib
	$(CUDA_SOURCES) -exec $(VENV)/bin/clang-format --dry-run -Werror {} +

format: $(DEV_READY)
	$(PY) -m ruff check --quiet --fix --exit-zero .
	$(PY) -m ruff format .
	$(CUDA_SOURCES) -exec $(VENV)/bin/clang-format -i {} +

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian splits ensurepip from python3: where it is absent, another pip can fill the environment.
$(PY):
	@test -n "$(PYTHON)" || { echo "rooflens needs Python 3.11 or newer, and none was found: install it, or name it with make PYTHON=/path/to/python3" >&2; exit 1; }
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV) >/dev/null 2>&1 \
	    || { rm -rf $(VENV); "$(PYTHON)" -m venv --without-pip $(VENV) && "$(PYTHON)" -m pip --python $(PY) install --quiet pip; } 2>/dev/null \
	    || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }

# Each stamp stands for one set of extras. Wheels of two CUDA majors do not share an environment, so
# that a change of CUDA starts a new one.
define install
	@if ls $(VENV)/.ready-cuda$(filter-out $(CUDA),12 13)* >/dev/null 2>&1; then \
	    rm -rf $(VENV) && $(MAKE) --no-print-directory $(PY) CUDA=$(CUDA); fi
	@echo "installing rooflens[$(1)] into $(VENV), once"
	@rm -f $(VENV)/.ready-*
	@$(PIP) install --editable ".[$(1)]"
endef

$(RUN_READY): $(INPUTS) | $(PY)
	$(call install,cuda$(CUDA))
	@touch $@

$(TEST_READY): $(INPUTS) | $(PY)
	$(call install,cuda$(CUDA)$(COMMA)test)
	@touch $@ $(RUN_READY)

$(DEV_READY): $(INPUTS) | $(PY)
	$(call install,cuda$(CUDA)$(COMMA)dev)
	@touch $@ $(TEST_READY) $(RUN_READY)

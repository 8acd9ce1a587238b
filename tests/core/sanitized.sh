#!/bin/sh
# Builds the core with AddressSanitizer and UBSan in an environment of its own and runs the fast tests that reach it.
set -eu
VENV=.venv-sanitized
"$PYTHON" -m uv venv --quiet --allow-existing --python "$PYTHON" "$VENV"
"$PYTHON" -m uv pip install --quiet --python "$VENV/bin/python" --group build
"$PYTHON" -m uv pip install --quiet --python "$VENV/bin/python" --reinstall-package baytree --no-build-isolation --group test \
  -C cmake.define.BAYTREE_SANITIZE=ON -C build-dir=build/sanitized '.[all]'
# Leaks are not looked for: the interpreter itself keeps memory until it ends.
LD_PRELOAD="$(${CXX:-g++} -print-file-name=libasan.so) $(${CXX:-g++} -print-file-name=libubsan.so)" \
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
  "$VENV/bin/python" -m pytest -q -n 2 -m "not slow and not scikit_learn" -p no:cacheprovider \
  tests/core tests/laws tests/data tests/naive_bayes tests/tree tests/linear tests/feature_selection

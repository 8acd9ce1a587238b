#!/bin/sh
# Builds the core with each compiler that is here, at -O2 and at -O3, warnings being errors, and compares the digests of models:
#   PYTHON=.venv/bin/python sh tests/core/compilers.sh [g++ clang++]
set -eu
cd "$(dirname "$0")/../.."
PYTHON=${PYTHON:-python3}
[ $# -gt 0 ] || set -- g++ clang++
for compiler in "$@"; do
  command -v "$compiler" >/dev/null || { echo "$compiler is not here"; continue; }
  for level in -O2 -O3; do
    place=build/compilers/$compiler$level
    cmake -S . -B "$place" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DBAYTREE_OPTIMIZATION="$level" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_FLAGS=-Werror -DPython_EXECUTABLE="$(command -v "$PYTHON")" -DSKBUILD_SOABI= -DSKBUILD_SABI_VERSION=3.11 -DSKBUILD_SABI_COMPONENT=Development.SABIModule >/dev/null
    cmake --build "$place" >/dev/null
    "$PYTHON" tests/core/digests.py "$place/_core.abi3.so" >"$place/digests"
    echo "$compiler $level: $(sha256sum <"$place/digests")"
  done
done
for digests in build/compilers/*/digests; do cmp "$digests" build/compilers/"$1"-O3/digests; done
echo "all alike"

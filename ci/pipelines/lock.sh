#!/usr/bin/env bash
# Locks every Python package that is installed, with the hashes of its files.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/lock.sh

For each X.in, which names packages, writes X.txt: these packages and their dependencies, with the SHA-256 of each of
their files. pip installs X.txt with --require-hashes. Packages in X.txt keep their versions unless X.in asks for
another. Needs uv (build/venv/bin) and the network.
TEXT
}

main() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage; return; fi
  [[ $# == 0 ]] || die "unknown argument '$1'; see --help"
  local wanted
  for wanted in ci/requirements.in ci/pipelines/actionlint.in ci/pipelines/actionlint-build.in \
    bench/peers/requirements.in bench/peers/requirements-torch-2.15.in docs/site/requirements.in; do
    lock "$wanted"
  done
  lock ci/pipelines/cuda.in --no-deps  # these wheels are unpacked, not run by Python
}

# For the oldest Python of our distributions, and later ones.
lock() {
  local wanted=$1
  shift
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
    --custom-compile-command ci/pipelines/lock.sh "$@" "$wanted" --output-file "${wanted%.in}.txt"
}

# shellcheck source=ci/pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$FUSEGATE_ROOT"
main "$@"

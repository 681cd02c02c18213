#!/usr/bin/env bash
# Writes down every Python package that is installed, and the hashes of its files.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/lock.sh

For each X.in, which says what we want, writes X.txt: what that needs in turn, and the SHA-256 of every file
that a package index may hand out for it. pip installs from X.txt by --require-hashes. What X.txt
holds already stays at its version, unless X.in wants another. Needs uv (PyPI) and the network.
TEXT
}

main() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage; return; fi
  [[ $# == 0 ]] || die "unknown argument '$1'; see --help"
  local wanted
  for wanted in ci/requirements.in ci/document/html/requirements.in ci/pipelines/actionlint.in ci/pipelines/actionlint-build.in \
    bench/peers/requirements.in docs/site/requirements.in; do
    lock "$wanted"
  done
  lock ci/pipelines/cuda.in --no-deps  # wheels that are taken apart, and not run by Python
}

# Of the oldest Python among our distributions on.
lock() {
  local wanted=$1
  shift
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
    --custom-compile-command ci/pipelines/lock.sh "$@" "$wanted" --output-file "${wanted%.in}.txt"
}

lib=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
cd "$FUSEGATE_ROOT"
main "$@"

#!/usr/bin/env bash
# Builds a preset and runs every test that this machine can run; tests that need a GPU skip without one.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/test.sh [--preset NAME]

  --preset NAME  release (the default: CUDA where nvcc is found), ptx80 (of CUDA, what an A100 runs, on any
                 newer GPU), host or asan

The last lines are ctest's. Exits 0 where every test passed, 1 where one failed, 2 where it could not
install or build.
TEXT
}

main() {
  parse_arguments "$@"
  ci/setup.sh --for tests
  use_cuda_toolkit
  FUSEGATE_BUILD_TESTS=1 build_preset "$FUSEGATE_ROOT" "$preset"
  step "testing preset $preset"
  ctest --preset "$preset" --output-on-failure </dev/null || exit 1
}

parse_arguments() {
  preset=release
  while [[ $# -gt 0 ]]; do
    case $1 in
      --preset) preset=$(value_of "$@"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
}

lib=$(dirname "${BASH_SOURCE[0]}")/pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/arguments.sh
. "$lib/arguments.sh"
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

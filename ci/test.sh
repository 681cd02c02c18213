#!/usr/bin/env bash
# Builds a preset and runs its tests. Those that need a GPU are skipped without one.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/test.sh [--preset NAME]

  --preset NAME  release (default: with CUDA if nvcc is found), ptx80 (an A100's CUDA code, on any newer GPU), host or
                 asan

The last lines are ctest's. Exits with 0 if every test passed, 1 if one failed, 2 if installing or building failed.
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

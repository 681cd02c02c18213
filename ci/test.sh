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
  parse_preset "$@"
  ci/setup.sh --for tests
  use_cuda_toolkit
  FUSEGATE_BUILD_TESTS=1 build_preset "$FUSEGATE_ROOT" "$preset"
  step "testing preset $preset"
  ctest --preset "$preset" --output-on-failure </dev/null || exit 1
}

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/pipelines/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

#!/usr/bin/env bash
# Builds a commit and its base for a GPU, on a machine that need not have one, and says whether their machine code differs.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/codes.sh --base REVISION [--baseline FILE]

  --base REVISION  what HEAD is compared with: a branch, a tag or a commit
  --baseline FILE  a stored baseline, which says which benchmarks launch what changed

Both programs are built once a commit, in .fusegate/programs (build_commit.sh). What was found goes to .fusegate/codes and,
on GitHub, to the job's summary and to the output "gpu": none, some or identify (docs/codes.md).
Exits with 0 whatever it found, with 2 where it could not compare.
TEXT
}

main() {
  parse_arguments "$@"
  export FUSEGATE_GPU=on  # builds for one
  ci/setup.sh --for measuring
  use_cuda_toolkit
  has_nvcc || [[ ${CUDACXX:-} ]] || die "no nvcc, which kernels are compiled by"
  build_preset "$FUSEGATE_ROOT" host fusegate
  PATH=$FUSEGATE_ROOT/build/host/bin:$PATH
  BASE=$(program_of "$base")
  HEAD=$(program_of HEAD)
  CHANGED=''
  # Which benchmarks there are, and how they are measured.
  diff -r "$(dirname "$BASE")/suites" "$(dirname "$HEAD")/suites" >&2 || CHANGED='A suite'
  export BASE HEAD CHANGED BASELINE=$baseline INSTALL=''
  end_with ci/action/codes.sh
}

program_of() {
  step "the program of $(git rev-parse --short "$1")" >&2
  SECONDS=$SECONDS "$lib/build_commit.sh" "$1"
}

parse_arguments() {
  base='' baseline=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --base) base=$(value_of "$@"); shift 2 ;;
      --baseline) baseline=$(value_of "$@"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  [[ $base ]] || die "--base is missing; see --help"
}

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

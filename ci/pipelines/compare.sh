#!/usr/bin/env bash
# Compares this tree with another revision: both built here and measured side by side, now. Two runs that
# were made apart differ by the day as well as by the code.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/compare.sh --base REVISION [--suite NAME] [--processes N] [--budget-s N | --budget-gpu-s N]
                               [--only PATTERN] [--only-from FILE] [--all] [--fail-on WHAT] [--allow P]

  --base REVISION  what this tree is compared with: a branch, a tag or a commit
  --suite NAME     pr (the default on a GPU), smoke (the default without one), nightly or ladder
  --processes N    processes of each program; 5 by default. Undecided and suspicious benchmarks are
                   measured again, up to three times as often
  --budget-s N     start nothing that would take longer than N seconds in all, except to confirm a
                   regression; 600 by default
  --budget-gpu-s N choose what is measured, and how often, so that the verdict is there N seconds after a
                   program first uses the GPU; what is left out is named, undecided, and does not pass
  --only PATTERN   ask and measure only benchmarks whose names match, and controls; may be repeated
  --only-from FILE likewise those that fusegate codes-diff --json lists
  --all            measure identical code too: by default, where both programs launch the same machine code
                   with the same arguments, only a few benchmarks are measured, as controls
  --fail-on WHAT   exit with 1 whatever the time where launching takes the host longer (host; identical
                   code is measured too), or where other kernels are launched (kernels); may be repeated
  --allow P        the slowdown that may stay undecided, such as 2%; by default the suite's own

The base is measured twice and compared with itself too (A/A): any difference found is a false alarm.
The runs go to .fusegate/runs/<time>. gate.json, gate.md and report.html go to .fusegate/reports/<time>,
and .fusegate/reports/latest links to the last of these.
Exits with 0 where nothing regressed, with 1 where something did, with 2 where it could not judge.
TEXT
}

main() {
  parse_arguments "$@"
  ci/setup.sh --for measuring
  use_cuda_toolkit
  preset=$(measuring_preset)
  suite=${suite:-$(compared_suite)}
  build_preset "$FUSEGATE_ROOT" "$preset" fusegate fusegate_bench
  step "the same for the base, $(git rev-parse --short "$base")"
  base_program=$(SECONDS=$SECONDS "$lib/build_commit.sh" "$base")
  # This tree's fusegate drives and judges both: it knows the run file's newest form and the one before.
  end_with "build/$preset/bin/fusegate" job --suite "$suite" --processes "$processes" "$budget" "$budget_s" \
    --started-s "$SECONDS" --base "$base_program" "${more[@]}"
}

# The shapes of pr are a GPU's: on a CPU their references alone take longer than the job may.
compared_suite() {
  if has_nvidia_gpu; then
    echo pr
  else
    step "without a GPU suite smoke is compared; pr's shapes take a CPU hours (--suite names another)" >&2
    echo smoke
  fi
}

parse_arguments() {
  base='' suite='' processes=5 budget=--budget-s budget_s=600 more=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --base) base=$(value_of "$@"); shift 2 ;;
      --suite) suite=$(value_of "$@"); shift 2 ;;
      # --invocations: its former name.
      --processes | --invocations) processes=$(value_of "$@"); shift 2 ;;
      --budget-s | --budget-gpu-s) budget=$1 budget_s=$(value_of "$@"); shift 2 ;;
      --all) more+=("$1"); shift ;;
      --only | --only-from | --fail-on | --allow | --require-ruled-out) more+=("$1" "$(value_of "$@")"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  [[ $base ]] || die "--base is missing; see --help"
  base=$(git rev-parse --verify --quiet --end-of-options "$base^{commit}") || die "--base names no commit of this repository"
  require_count --processes "$processes"
  require_count "$budget" "$budget_s"
}

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

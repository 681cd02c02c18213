#!/usr/bin/env bash
# The main job: sweep, record, remember, gate, report.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/run.sh [--suite NAME] [--invocations N] [--max-invocations N] [--budget-s N] [--require-baseline]

Installs what is missing, builds, measures the suite (on the GPU where there is one, else on the
CPU), compares it with the stored baseline of this environment, and writes a report. Where no baseline
is stored for this environment, the first run becomes a local one in .fusegate/baselines, and a
second run is compared with it.

  --suite NAME         smoke (the default), pr, nightly or ladder
  --invocations N      processes a run; 3 by default. Four and more also tell, as two arms of the same
                       program, how often nothing passes for something (A/A)
  --max-invocations N  measure what the baseline leaves undecided or suspicious again, up to so many
                       processes; by default nothing is
  --budget-s N         seconds for all of that; no limit by default. A regression is confirmed all the same
  --require-baseline   exit 2 where no baseline is stored, rather than record one (for nightly CI)

Leaves the runs in .fusegate/runs/<time>, and gate.json, gate.md and report.html in
.fusegate/reports/<time>; .fusegate/reports/latest links to the last.
Exits 0 where nothing regressed, 1 on a regression, 2 where it could not judge.
FUSEGATE_GPU=off in the environment measures the CPU although there is a GPU.
TEXT
}

main() {
  parse_arguments "$@"
  ci/setup.sh
  use_cuda_toolkit
  preset=$(measuring_preset)
  build_preset "$FUSEGATE_ROOT" "$preset" fusegate fusegate_bench
  end_with "build/$preset/bin/fusegate" job --who "$(id -un)" "${flags[@]}"
}

parse_arguments() {
  flags=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --suite) flags+=("$1" "$(value_of "$@")"); shift 2 ;;
      --invocations | --max-invocations | --budget-s)
        require_count "$1" "$(value_of "$@")"
        flags+=("$1" "$2"); shift 2 ;;
      --require-baseline) flags+=("$1"); shift ;;
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

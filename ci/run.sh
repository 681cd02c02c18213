#!/usr/bin/env bash
# The main job: sweep, record, remember, gate, report.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/run.sh [--suite NAME] [--invocations N] [--require-baseline]

Installs what is missing, builds, measures the suite (on the GPU where there is one, else on the
CPU), compares it with the stored baseline of this environment, and writes a report. Where no baseline
is stored for this environment, the first run becomes a local one in .fusegate/baselines, and a
second run is compared with it.

  --suite NAME        smoke (the default), pr or nightly
  --invocations N     processes a run; 3 by default
  --require-baseline  exit 2 where no baseline is stored, rather than record one (for nightly CI)

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
  new_job
  measure first
  if may_be_recorded && recorded_as_first_baseline; then measure second; fi
  gate_and_report "build/$preset/bin/fusegate" --candidate "$run"
}

parse_arguments() {
  suite=smoke invocations=3 require_baseline=no
  while [[ $# -gt 0 ]]; do
    case $1 in
      --suite) suite=$(value_of "$@"); shift 2 ;;
      --invocations) invocations=$(value_of "$@"); shift 2 ;;
      --require-baseline) require_baseline=yes; shift ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  require_count --invocations "$invocations"
}

# measure NAME: leaves the run's folder in $run. Its output is not captured: on a terminal the program
# shows its progress in place.
measure() {
  run=$RUNS/$1
  step "measuring the $1 run: suite $suite, $invocations invocations"
  "build/$preset/bin/fusegate" run --suite "$suite" --invocations "$invocations" \
    --program "build/$preset/bin/fusegate_bench" --out "$run" || run_failed
}

may_be_recorded() { [[ $require_baseline == no && $RUN_FAILED == no ]]; }

# Whether the run became the first baseline of this environment; prints what accept says. Forced,
# because this baseline stays on this machine: uncommitted changes, say, are no reason to have none.
recorded_as_first_baseline() {
  local answer
  answer=$("build/$preset/bin/fusegate" accept "$run" --if-missing --force --store .fusegate/baselines \
    --who "$(id -un)" --reason "first local run of ci/run.sh") ||
    die "could not look for a baseline of this environment"
  step "baseline: $answer"
  [[ $answer == recorded* ]]
}

lib=$(dirname "${BASH_SOURCE[0]}")/lib
# shellcheck source=ci/lib/log.sh
. "$lib/log.sh"
# shellcheck source=ci/lib/arguments.sh
. "$lib/arguments.sh"
# shellcheck source=ci/lib/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/lib/build.sh
. "$lib/build.sh"
# shellcheck source=ci/lib/judge.sh
. "$lib/judge.sh"
cd "$FUSEGATE_ROOT"
main "$@"

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
  new_job
  local in_turn=no
  if [[ $require_baseline == no ]] && no_baseline_of_suite; then in_turn=yes; fi
  if [[ $in_turn == yes ]]; then measure first second; else measure first; fi
  if may_be_recorded && recorded_as_first_baseline; then
    [[ $in_turn == yes ]] || measure second
    run=$RUNS/second
  fi
  gate_and_report "build/$preset/bin/fusegate" --candidate "$run"
}

parse_arguments() {
  suite=smoke invocations=3 max_invocations='' budget_s='' require_baseline=no
  while [[ $# -gt 0 ]]; do
    case $1 in
      --suite) suite=$(value_of "$@"); shift 2 ;;
      --invocations) invocations=$(value_of "$@"); shift 2 ;;
      --max-invocations) max_invocations=$(value_of "$@"); shift 2 ;;
      --budget-s) budget_s=$(value_of "$@"); shift 2 ;;
      --require-baseline) require_baseline=yes; shift ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  require_count --invocations "$invocations"
  if [[ $max_invocations ]]; then require_count --max-invocations "$max_invocations"; fi
  if [[ $budget_s ]]; then require_count --budget-s "$budget_s"; fi
}

# Whether no device at all has one: then this run's will be missing too.
no_baseline_of_suite() {
  ! compgen -G "baselines/*/$suite.json" >/dev/null &&
    ! compgen -G ".fusegate/baselines/*/$suite.json" >/dev/null
}

# measure NAME...: leaves the first run's folder in $run. Two runs are measured process by process in
# turn: on a shared machine two runs made one after the other differed by a third with nothing changed.
# The output is not captured: on a terminal the program shows its progress in place.
measure() {
  local name flags=()
  for name in "$@"; do flags+=(--out "$RUNS/$name"); done
  if [[ $max_invocations ]]; then flags+=(--max-invocations "$max_invocations"); fi
  if [[ $budget_s ]]; then flags+=(--budget-s "$budget_s"); fi
  if [[ $# -eq 1 && $invocations -ge 4 ]]; then flags+=(--aa); fi
  run=$RUNS/$1
  step "measuring $*: suite $suite, $invocations invocations each"
  "build/$preset/bin/fusegate" run --suite "$suite" --invocations "$invocations" \
    --program "build/$preset/bin/fusegate_bench" "${flags[@]}" || run_failed
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

lib=$(dirname "${BASH_SOURCE[0]}")/pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/arguments.sh
. "$lib/arguments.sh"
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
# shellcheck source=ci/pipelines/judge.sh
. "$lib/judge.sh"
cd "$FUSEGATE_ROOT"
main "$@"

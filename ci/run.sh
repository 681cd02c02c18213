#!/usr/bin/env bash
# The main job: sweep, record, remember, gate, report.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/run.sh [--suite NAME] [--processes N] [--max-processes N] [--budget-s N] [--require-baseline]
                 [--replay] [--all] [--fail-on WHAT] [--allow P]

Installs what is missing, builds, measures a suite, compares the run with the stored baseline of this
device and suite, and writes a report. It measures the GPU, or the CPU where there is no GPU. Where no
baseline is stored, the run becomes one, in .fusegate/baselines, and a second run is compared
with it. Its program is kept in .fusegate/programs/local, and later jobs measure that beside
the new one, in about two minutes on two cores.

  --suite NAME         smoke (the default), pr, nightly or ladder
  --processes N        processes in a run; 6 by default. Fewer than 4 find no regression unless they are
                       measured again. From 4 on, a run that is compared with stored figures is also split
                       in two halves and these are compared (A/A): any difference found is a false alarm
  --max-processes N    measure undecided and suspicious benchmarks again, up to N processes in all; by
                       default three times --processes where two programs are measured side by side, four
                       times in a first job, and else nothing is measured again
  --budget-s N         start nothing that would take longer than N seconds in all, except to confirm
                       a regression; unlimited by default, but 150 where a kept program is
                       measured, and 600 with --replay
  --require-baseline   exit with 2 where no baseline is stored, and record none (for nightly CI)
  --replay             where a baseline is stored, build its commit and measure that program side by side
                       with this one; what card, driver and libraries changed is reported, and fails nothing
  --all                measure identical code too: by default, where the baseline's benchmarks launched the
                       same machine code with the same arguments, only a few are measured, as controls
  --fail-on WHAT       exit with 1 whatever the time where launching takes the host longer (host; identical
                       code is measured too), or where other kernels are launched (kernels); may be repeated
  --allow P            the slowdown that may stay undecided, such as 2%; by default the suite's own

The runs go to .fusegate/runs/<time>. gate.json, gate.md and report.html go to .fusegate/reports/<time>,
and .fusegate/reports/latest links to the last of these.
Exits with 0 where nothing regressed, with 1 where something did, with 2 where it could not judge.
FUSEGATE_GPU=off in the environment: measure the CPU although there is a GPU.
TEXT
}

main() {
  parse_arguments "$@"
  ci/setup.sh --for measuring
  use_cuda_toolkit
  preset=$(measuring_preset)
  build_preset "$FUSEGATE_ROOT" "$preset" fusegate fusegate_bench
  end_with "build/$preset/bin/fusegate" job --started-s "$SECONDS" "${flags[@]}"
}

parse_arguments() {
  flags=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --suite | --fail-on | --allow | --require-ruled-out) flags+=("$1" "$(value_of "$@")"); shift 2 ;;
      # --invocations and --max-invocations: the former names of --processes and --max-processes.
      --processes | --max-processes | --invocations | --max-invocations | --budget-s)
        require_count "$1" "$(value_of "$@")"
        flags+=("$1" "$2"); shift 2 ;;
      --require-baseline | --replay | --all) flags+=("$1"); shift ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
}

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/pipelines/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

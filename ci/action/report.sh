#!/usr/bin/env bash
# Collects the last report and the runs of .fusegate in a folder for the artifact, with what codes.sh found behind the
# verdict, and appends the verdict to the job's summary. action.yml calls it.
set -euo pipefail

main() {
  local kept folder=$RUNNER_TEMP/fusegate
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "folder=$folder" >>"$GITHUB_OUTPUT"
  kept=$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.fusegate
  local codes=$kept/codes/gate.md  # what codes.sh found, here or in a job before
  if [[ ! -e $kept/reports/latest/gate.md ]]; then
    if [[ -e $codes ]]; then return; fi
    warn "no report is in $kept: the measurement did not start"
    return
  fi
  cp -r "$kept/reports/latest/." "$folder/report"
  if [[ -e $kept/runs ]]; then cp -r "$kept/runs" "$folder/runs"; fi
  if [[ -e $codes ]] && ! cmp -s "$codes" "$folder/report/gate.md"; then
    { echo; cat "$codes"; } >>"$folder/report/gate.md"
  fi
  cat "$folder/report/gate.md" >>"$GITHUB_STEP_SUMMARY"
}

lib=$(dirname "${BASH_SOURCE[0]}")/../pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
main "$@"

#!/usr/bin/env bash
# Collects the last report and the runs of .fusegate in a folder for the artifact, and appends the verdict to the job's
# summary. action.yml calls it.
set -euo pipefail

main() {
  local kept folder=$RUNNER_TEMP/fusegate
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "folder=$folder" >>"$GITHUB_OUTPUT"
  kept=$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.fusegate
  if [[ ! -e $kept/reports/latest/gate.md ]]; then
    warn "no report is in $kept: the measurement did not start"
    return
  fi
  cp -r "$kept/reports/latest/." "$folder/report"
  cp -r "$kept/runs" "$folder/runs"
  cat "$folder/report/gate.md" >>"$GITHUB_STEP_SUMMARY"
}

lib=$(dirname "${BASH_SOURCE[0]}")/../pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
main "$@"

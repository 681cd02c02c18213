#!/usr/bin/env bash
# Compares the machine code of two programs, without a GPU, and says what a GPU is needed for: the output "gpu" is none, some or
# identify (docs/codes.md). action.yml calls it and sets, from its inputs, BASE, HEAD, BASELINE and INSTALL. CHANGED: what
# else changed that only a measurement shows, such as a suite. Leaves codes.json and gate.md in .fusegate/codes; where no GPU is
# needed, gate.md is the report too. Exits with 0 whatever it found, with 2 where it could not read the programs.
set -euo pipefail

main() {
  : "${BASE:?}" "${HEAD:?}" "${BASELINE?}" "${INSTALL?}"
  local kept=.fusegate gpu code=0
  local codes=$kept/codes
  if [[ $INSTALL ]]; then install_fusegate "$INSTALL"; fi
  rm -rf "$codes"
  mkdir -p "$codes"
  fusegate codes-diff "$BASE" "$HEAD" ${BASELINE:+--baseline "$BASELINE"} --json "$codes/codes.json" --markdown "$codes/gate.md" ||
    code=$?
  [[ $code -le 2 && -s $codes/codes.json ]] || die "the machine code could not be compared"
  gpu=$(sed -n 's/^ "gpu": "\(none\|some\|identify\)",$/\1/p' "$codes/codes.json")
  [[ $gpu ]] || die "$codes/codes.json does not say what a GPU is needed for"
  if [[ ${CHANGED:-} && $gpu == none ]]; then
    gpu=identify
    printf '\n%s changed: only a measurement shows what that does.\n' "$CHANGED" | tee -a "$codes/gate.md"
  fi
  if [[ $gpu == none ]]; then report_codes "$kept"; fi
  step "what a GPU is needed for: $gpu"
  echo "gpu=$gpu" >>"${GITHUB_OUTPUT:-/dev/null}"
  if [[ $gpu != none ]]; then cat "$codes/gate.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"; fi
}

# As fusegate job leaves a report, for report.sh.
report_codes() {
  local report=$1/reports/codes
  mkdir -p "$report"
  cp "$1/codes/gate.md" "$report"
  ln -sfn codes "$1/reports/latest"
}

lib=$(dirname "${BASH_SOURCE[0]}")/../pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/action/install.sh
. "$(dirname "${BASH_SOURCE[0]}")/install.sh"
main "$@"

#!/usr/bin/env bash
# Reports what the last job and the history of nights found: to the webhook in FUSEGATE_WEBHOOK_URL, and as issues of
# GITHUB_REPOSITORY with the token in GITHUB_TOKEN. Where neither is set, it prints what it would send.
set -euo pipefail

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
use_cuda_toolkit
findings=() targets=()
[[ ! -e .fusegate/reports/latest/gate.json ]] || findings+=(--gate .fusegate/reports/latest/gate.json)
[[ ! -e .fusegate/history.db ]] || findings+=(--db .fusegate/history.db)
[[ ! ${FUSEGATE_WEBHOOK_URL:-} ]] || targets+=(--webhook)
[[ ! ${GITHUB_TOKEN:-} ]] || targets+=(--github "$GITHUB_REPOSITORY")
if [[ ${targets[*]} ]]; then targets+=(--send); else targets=(--webhook --github "$GITHUB_REPOSITORY"); fi
end_with "build/$(measuring_preset)/bin/fusegate" notify "${findings[@]}" "${targets[@]}"

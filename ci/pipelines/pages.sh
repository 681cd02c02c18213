#!/usr/bin/env bash
# Writes the pages of the history of nights to .fusegate/pages, with the last night's run where it was measured beside its
# baseline's replay.
set -euo pipefail

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
use_cuda_toolkit
run=()
for folder in .fusegate/runs/*/; do
  [[ ! -d ${folder}head || ! -d ${folder}base ]] || run=(--candidate "${folder}head" --baseline "${folder}base")
done
end_with "build/$(measuring_preset)/bin/fusegate" site --out .fusegate/pages "${run[@]}"

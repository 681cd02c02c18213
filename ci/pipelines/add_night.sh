#!/usr/bin/env bash
# Adds what ci/run.sh measured to the history of nights, .fusegate/history.db. Nothing is added twice.
set -euo pipefail

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
use_cuda_toolkit
end_with "build/$(measuring_preset)/bin/fusegate" history add .fusegate/runs/*

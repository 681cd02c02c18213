#!/usr/bin/env bash
# Measures the commits around changes that the history of nights found, side by side. What stays undecided is no failure:
# it is asked again the next night.
set -euo pipefail

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
use_cuda_toolkit
"build/$(measuring_preset)/bin/fusegate" confirm --budget-s 600 || [[ $? = 2 ]]

#!/usr/bin/env bash
# Shows that the gate finds a Triton kernel that takes 3 % longer: runs three programs in turn, two of them the same.
#
#   bench/python/examples/gate_slowed.sh FUSEGATE OUT [PROCESSES]
#
# FUSEGATE: the program. Needs a GPU, and torch and Triton in $FUSEGATE_PYTHON (default: python3). The runs and verdicts
# go to OUT. Exits with 0 if the unchanged program passed and the slowed one failed by its Triton benchmarks alone.
set -euo pipefail

fusegate=$1
out=$2
processes=${3:-5}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH=$here/..${PYTHONPATH:+:$PYTHONPATH}
program="'${FUSEGATE_PYTHON:-python3}' -m fusegate run '$here/triton_geglu.py'"

steps=$("${FUSEGATE_PYTHON:-python3}" "$here/slow_steps.py" "${SLOW_SHARE:-0.03}")

gate() {
  local code=0
  "$fusegate" gate --baseline "$out/base" --candidate "$out/$1" --json "$out/$1.json" || code=$?
  echo "$1: exit code $code"
}

"$fusegate" run --program "$program" --program "$program" \
  --program "env FUSEGATE_EXAMPLE_SLOW_STEPS=$steps $program" \
  --suite all --processes "$processes" --out "$out/base" --out "$out/same" --out "$out/slowed" -- --profile=off
gate same
gate slowed

"${FUSEGATE_PYTHON:-python3}" - "$out" <<'PYTHON'
import json, pathlib, sys

def regressions(name):
    gate = json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text(encoding="utf-8"))
    return gate["exit_code"], sorted(each["benchmark"] for each in gate["verdicts"] if each["verdict"] == "regression")

same, slowed = regressions("same"), regressions("slowed")
right = same == (0, []) and slowed[0] == 1 and slowed[1] and all("/triton/" in name for name in slowed[1])
print("as expected" if right else f"not as expected: same {same}, slowed {slowed}")
sys.exit(0 if right else 1)
PYTHON

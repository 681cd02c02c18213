#!/usr/bin/env bash
# Measures the tensor-parallel MLPs of other libraries on this machine's GPUs. A step that is done is left alone, and one that was
# cut off goes on: run it again with the same folder.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: docs/evidence/tensor_parallel_peers.sh OUT [RANKS]

Writes into the folder OUT: versions.txt; check.json, one small problem of each peer, to see what runs here; and of each shape
FORM-DIM-HIDDEN.json, over rows. RANKS: how many GPUs, 2 by default. $PYTHON: the Python that has torch.
TEXT
}

main() {
  if [[ ${1:-} == --help || $# -lt 1 || $# -gt 2 ]]; then usage; return; fi
  local out=$1 ranks=${2:-2} form shape
  mkdir -p "$out"
  versions | tee "$out/versions.txt"
  measure "$out/check.json" --operation=geglu_mlp_tp,geglu_mlp_sp --problem="batch:1/seq:1024/dim:768/hidden:3072/ranks:$ranks" \
    --samples=4 --layouts=2
  for shape in 768:3072 4096:11008 4096:14336; do
    for form in tp sp; do
      # Of the sequence-parallel form each rank has a part of the rows.
      measure "$out/$form-${shape/:/-}.json" --operation="geglu_mlp_$form" --dtype=bf16 --batch=1 --dim="${shape%:*}" \
        --hidden="${shape#*:}" --axis="ranks=$ranks" --seq="$([[ $form == tp ]] && echo 1,16,64,)128,256,1024,2048,4096,8192" \
        --benchmark_filter=-max_autotune
    done
  done
}

versions() {
  nvidia-smi --query-gpu=index,name,uuid,driver_version --format=csv,noheader
  nvidia-smi topo -m
  "$PYTHON" - <<'TEXT'
import importlib.metadata
import torch
print("torch", torch.__version__, "CUDA", torch.version.cuda, "NCCL", ".".join(map(str, torch.cuda.nccl.version())))
for name in ("triton", "quack-kernels", "nvidia-cutlass-dsl", "nvidia-cublasmp-cu13", "nvidia-nccl-cu13"):
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name, "is not installed")
TEXT
  git -C "$ROOT" rev-parse HEAD 2>/dev/null || true
}

# A peer that fails ends with 2, and its reason is in the file.
measure() {
  local out=$1 code=0
  shift
  if [[ -e $out.done ]]; then return; fi
  echo "== $out"
  "$PYTHON" "$ROOT/bench/peers/peers.py" "$@" --stuck-after-s=120 --out="$out" --resume >"$out.log" 2>&1 || code=$?
  grep -v '^@' "$out.log" | tail -n 40
  if [[ $code == 0 || $code == 2 ]] && grep -Eq '"finished": ?true' "$out"; then touch "$out.done"; fi
}

: "${PYTHON:=python3}"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
main "$@"

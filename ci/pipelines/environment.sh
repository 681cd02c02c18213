# shellcheck shell=bash
# Where things are, and which CUDA toolkit to build with; and log.sh and arguments.sh. Source it: it exports PATH, CUDACXX,
# CUDAToolkit_ROOT and LD_LIBRARY_PATH for whatever the caller starts.

# shellcheck source=ci/pipelines/log.sh
. "$(dirname "${BASH_SOURCE[0]}")/log.sh"
# shellcheck source=ci/pipelines/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"

FUSEGATE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# The files too: a container often has the device, but not nvidia-smi.
has_nvidia_gpu() {
  case ${FUSEGATE_GPU:-auto} in
    on) ;;
    off) return 1 ;;
    *) command -v nvidia-smi >/dev/null || [[ -e /proc/driver/nvidia/version || -e /dev/nvidia0 ]] ;;
  esac
}

has_nvcc() { command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; }

# The device decides, not the toolkit: without a GPU, CUDA kernels cannot run here.
measuring_preset() { if has_nvidia_gpu; then echo release; else echo host; fi; }

prepend_path() { export PATH="$1:$PATH"; }

use_cuda_toolkit() {
  local wheels=$FUSEGATE_ROOT/build/cuda
  if [[ -x $wheels/bin/nvcc ]] && { [[ ${FUSEGATE_FORCE_CUDA_WHEELS:-0} == 1 ]] || ! has_nvcc; }; then
    export CUDACXX=$wheels/bin/nvcc CUDAToolkit_ROOT=$wheels
    export LD_LIBRARY_PATH=$wheels/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    prepend_path "$wheels/bin"
  elif has_nvcc && ! command -v nvcc >/dev/null; then
    prepend_path /usr/local/cuda/bin
  fi
}

use_cuda_toolkit

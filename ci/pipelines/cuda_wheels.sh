# shellcheck shell=bash
# A CUDA toolkit from NVIDIA's PyPI wheels, in build/cuda: for a machine with a GPU, no nvcc, and no
# right to add NVIDIA's apt archive. Source it after python.sh; call install_cuda_wheels.

readonly CUDA_WHEELS=$FUSEGATE_ROOT/ci/pipelines/cuda.txt
# The first driver branch that runs CUDA 13.0 programs.
readonly CUDA_LEAST_DRIVER=580

# nvcc looks for its headers and libraries under targets/<this>, as in NVIDIA's own packages.
cuda_target() {
  case $(uname -m) in
    aarch64) echo sbsa-linux ;;
    *) echo x86_64-linux ;;
  esac
}

# A wheel carries libcublas.so.13 and no libcublas.so, which is the name that the linker looks for.
link_unversioned_names() {
  local library
  for library in "$1"/*.so.*; do
    ln -sf "$(basename "$library")" "${library%.so.*}.so"
  done
}

# Toolkits ship a stub to link the driver's API against; the wheels do not, but the driver is here.
link_driver() {
  local driver
  driver=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .*x86-64.* => //p; s/.*libcuda\.so\.1 .*AArch64.* => //p' | head -n 1)
  mkdir -p "$1/stubs"
  if [[ $driver ]]; then ln -sf "$driver" "$1/stubs/libcuda.so"; fi
}

assemble_cuda_toolkit() {
  local wheels=$FUSEGATE_ROOT/build/cuda.wheels toolkit=$FUSEGATE_ROOT/build/cuda target
  target=$toolkit/targets/$(cuda_target)
  rm -rf "$wheels" "$toolkit"
  venv_pip "$FUSEGATE_VENV" install --target "$wheels" --no-deps --only-binary=:all: \
    --require-hashes --requirement "$CUDA_WHEELS" || return
  mv "$wheels/nvidia/cu13" "$toolkit" && rm -rf "$wheels" || return
  ln -s lib "$toolkit/lib64"
  mkdir -p "$target"
  ln -s ../../include "$target/include"
  ln -s ../../lib "$target/lib"
  link_unversioned_names "$toolkit/lib"
  link_driver "$toolkit/lib"
}

warn_of_old_driver() {
  local version
  version=$(sed -n 's/.*Kernel Module[^0-9]*\([0-9]*\)\..*/\1/p' /proc/driver/nvidia/version 2>/dev/null) || return 0
  if [[ $version ]] && ((version < CUDA_LEAST_DRIVER)); then
    warn "the NVIDIA driver is of branch $version; CUDA 13.0 programs need $CUDA_LEAST_DRIVER or later"
  fi
}

install_cuda_wheels() {
  local stamp=$FUSEGATE_ROOT/build/cuda/wheels.txt
  if [[ ${FUSEGATE_FORCE_CUDA_WHEELS:-0} != 1 ]] && { has_nvcc || ! has_nvidia_gpu; }; then return 0; fi
  warn_of_old_driver
  [[ -e $stamp && $(<"$stamp") == "$(<"$CUDA_WHEELS")" ]] && return
  [[ -x $FUSEGATE_VENV/bin/python3 ]] ||
    die "there is a GPU and no nvcc, and PyPI is not in reach for its wheels: install CUDA 12.0 or later, or restore the network"
  step "installing the CUDA 13.0 toolkit from PyPI into build/cuda (about 1 GB)"
  quietly "$FUSEGATE_ROOT/build/logs/cuda.log" assemble_cuda_toolkit ||
    die "could not install the CUDA toolkit from PyPI; install CUDA 12.0 or later by hand, or restore the network"
  cp "$CUDA_WHEELS" "$stamp"
}

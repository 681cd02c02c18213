# shellcheck shell=bash
# Installs a CUDA toolkit from NVIDIA's PyPI wheels into build/cuda, on a machine with a GPU but without nvcc or the right to
# add NVIDIA's apt archive. Source it after python.sh; call install_cuda_wheels.

readonly CUDA_WHEELS=$FUSEGATE_ROOT/ci/pipelines/cuda.txt
# The first driver branch that runs CUDA 13.0 programs.
readonly CUDA_LEAST_DRIVER=580

# nvcc searches its headers and libraries in targets/<this>, as in NVIDIA's own packages.
cuda_target() {
  case $(uname -m) in
    aarch64) echo sbsa-linux ;;
    *) echo x86_64-linux ;;
  esac
}

# A wheel has libcublas.so.13, but not libcublas.so, the name that the linker searches.
link_unversioned_names() {
  local library
  for library in "$1"/*.so.*; do
    ln -sf "$(basename "$library")" "${library%.so.*}.so"
  done
}

# The wheels have no stub of the driver's library to link with, so the driver itself is used.
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
    warn "the NVIDIA driver is version $version; CUDA 13.0 programs need $CUDA_LEAST_DRIVER or later: update the driver"
  fi
}

install_cuda_wheels() {
  local stamp=$FUSEGATE_ROOT/build/cuda/wheels.txt
  if [[ ${FUSEGATE_FORCE_CUDA_WHEELS:-0} != 1 ]] && { has_nvcc || ! has_nvidia_gpu; }; then return 0; fi
  warn_of_old_driver
  [[ -e $stamp && $(<"$stamp") == "$(<"$CUDA_WHEELS")" ]] && return
  # Where nothing was installed for tests there is an empty one, for its pip.
  [[ -x $FUSEGATE_VENV/bin/python3 ]] || quietly "$FUSEGATE_ROOT/build/logs/venv.log" python3 -m venv --clear "$FUSEGATE_VENV" ||
    die "found a GPU but no nvcc, and python3 makes no virtual environment whose pip could fetch CUDA: install CUDA 12.0 or later"
  step "installing the CUDA 13.0 toolkit from PyPI into build/cuda (about 1 GB)"
  quietly "$FUSEGATE_ROOT/build/logs/cuda.log" assemble_cuda_toolkit ||
    die "could not install the CUDA toolkit from PyPI; install CUDA 12.0 or later by hand, or restore the network"
  cp "$CUDA_WHEELS" "$stamp"
}

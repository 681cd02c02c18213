#!/usr/bin/env bash
# Makes the Python wheel of a build.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/wheel.sh [--build FOLDER] --out FOLDER

Makes fusegate-VERSION-py3-none-manylinux_2_X_x86_64.whl, where X is the build machine's. Libraries that other
distributions lack become a part of it. It has GPU support if it was built with nvcc.

  --build FOLDER  take what was built there, such as build/host, and compile nothing. Needs build/venv (ci/setup.sh), and no
                  network. By default, installs what is missing, and builds preset release
  --out FOLDER    where the wheel goes

FUSEGATE_FORCE_CUDA_WHEELS=1 in the environment: build with the CUDA toolkit from PyPI.
TEXT
}

main() {
  local build='' out=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --build) build=$(value_of "$@"); shift 2 ;;
      --out) out=$(value_of "$@"); shift 2 ;;
      --help | -h) usage; return ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  [[ $out ]] || die "--out is missing; see --help"
  if [[ ! $build ]]; then
    ci/setup.sh
    use_cuda_toolkit
    build_preset "$FUSEGATE_ROOT" release fusegate_wheel
    build=build/release
  fi
  mkdir -p "$out"
  make_wheel "$(cd "$build" && pwd)" "$(cd "$out" && pwd)"
}

make_wheel() {
  local build=$1 out=$2
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  export PATH=$FUSEGATE_ROOT/build/venv/bin:$PATH
  quietly "$work/pip.log" python3 -m pip --disable-pip-version-check wheel --no-index --no-deps --no-build-isolation \
    --check-build-dependencies --config-settings=build-dir="$work/build" \
    --config-settings=cmake.define.FUSEGATE_BUILD="$build" --wheel-dir "$work/plain" bench/python
  quietly "$work/auditwheel.log" auditwheel repair --wheel-dir "$work/wheel" "$work"/plain/*.whl
  cp "$work"/wheel/*.whl "$out"
  step "$out/$(basename "$work"/wheel/*.whl), $(gpu_support_of "$build")"
}

gpu_support_of() {
  if grep -qs '^CMAKE_CUDA_COMPILER:[A-Z]*=.*nvcc' "$1/CMakeCache.txt"; then
    echo "with GPU support"
  else
    echo "for the CPU only, since it was built without nvcc"
  fi
}

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

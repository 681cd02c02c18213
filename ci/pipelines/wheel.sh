#!/usr/bin/env bash
# Makes the Python wheel of a build.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/wheel.sh --build FOLDER --out FOLDER

Makes fusegate-VERSION-py3-none-manylinux_2_X_x86_64.whl of what was built in a folder, such as build/release, without
compiling anything. It has GPU support where the build has. Libraries that other Linux distributions lack become a
part of it. Needs build/venv (ci/setup.sh --for tests), and no network. Prints the wheel's path.
TEXT
}

main() {
  local build='' out=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --build) build=$(realpath "$(value_of "$@")"); shift 2 ;;
      --out) out=$(realpath "$(value_of "$@")"); shift 2 ;;
      --help | -h) usage; return ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  [[ $build && $out ]] || die "--build or --out is missing; see --help"
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  export PATH=$FUSEGATE_ROOT/build/venv/bin:$PATH
  quietly "$work/pip.log" python3 -m pip --disable-pip-version-check wheel --no-index --no-deps --no-build-isolation \
    --check-build-dependencies --config-settings=build-dir="$work/build" \
    --config-settings=cmake.define.FUSEGATE_BUILD="$build" --wheel-dir "$work/plain" bench/python
  quietly "$work/auditwheel.log" auditwheel repair --wheel-dir "$work/wheel" "$work"/plain/*.whl
  mkdir -p "$out"
  cp "$work"/wheel/*.whl "$out"
  echo "$out/$(basename "$work"/wheel/*.whl)"
}

# shellcheck source=ci/pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$FUSEGATE_ROOT"
main "$@"

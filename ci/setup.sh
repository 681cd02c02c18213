#!/usr/bin/env bash
# Installs what is missing to build and run fusegate.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/setup.sh [--for PURPOSE]

Installs missing system packages (Debian 12, Ubuntu 24.04), the tests' Python packages (into build/venv) and, on a
machine with an NVIDIA GPU but without nvcc, the CUDA toolkit from PyPI (into build/cuda). Without the right to install, it prints
the command to run, and exits with 2.

  --for PURPOSE  measuring: packages for building and measuring; tests (default): also those of tests, such as Node.js
                 and help2man

Environment:
  FUSEGATE_SETUP=off            install and check nothing
  FUSEGATE_GPU=off              ignore the GPU (for ci/run.sh too)
  FUSEGATE_FORCE_CUDA_WHEELS=1  install CUDA from PyPI even if nvcc is installed
TEXT
}

main() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage; return; fi
  local purpose=tests
  if [[ ${1:-} == --for ]]; then purpose=$(value_of "$@"); shift 2; fi
  [[ $# == 0 ]] || die "unknown argument '$1'; see --help"
  [[ $purpose == measuring || $purpose == tests ]] || die "--for is '$purpose'; it must be measuring or tests"
  if [[ ${FUSEGATE_SETUP:-on} == off ]]; then return; fi
  install_packages "$purpose"
  if [[ $purpose == tests ]]; then install_python_venv; fi
  install_cuda_wheels
}

lib=$(dirname "${BASH_SOURCE[0]}")/pipelines
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/pipelines/packages.sh
. "$lib/packages.sh"
# shellcheck source=ci/pipelines/python.sh
. "$lib/python.sh"
# shellcheck source=ci/pipelines/cuda_wheels.sh
. "$lib/cuda_wheels.sh"
main "$@"

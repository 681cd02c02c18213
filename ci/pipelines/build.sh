# shellcheck shell=bash
# Configures and builds a preset of a source tree. Source it: it has environment.sh too.

# shellcheck source=ci/pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

# parse_preset FLAG...: sets preset for a script that takes --preset and --help alone.
parse_preset() {
  preset=release
  while [[ $# -gt 0 ]]; do
    case $1 in
      --preset) preset=$(value_of "$@"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
}

# Prints CMake options beyond the preset's, one a line.
configure_options() {
  # CMake remembers "no CUDA compiler", and would not find a toolkit that is installed later.
  if has_nvcc || [[ ${CUDACXX:-} ]]; then
    if grep -qs '^CMAKE_CUDA_COMPILER:.*NOTFOUND$' "$1/CMakeCache.txt"; then echo -UCMAKE_CUDA_COMPILER; fi
  fi
  # CMake believes that the toolkit's folder is a system folder, and omits it from the programs' RPATH. They would then
  # start only with our LD_LIBRARY_PATH.
  if [[ ${CUDACXX:-} == "$FUSEGATE_ROOT/build/cuda/bin/nvcc" ]]; then
    echo "-DCMAKE_BUILD_RPATH=$FUSEGATE_ROOT/build/cuda/lib64"
  fi
  # Tests need more libraries. A build folder that has them keeps the setting.
  if [[ ${FUSEGATE_BUILD_TESTS:-} ]]; then
    echo -DBUILD_TESTING=ON
  elif [[ ! -e $1/CMakeCache.txt ]]; then
    echo -DBUILD_TESTING=OFF
  fi
  if command -v ccache >/dev/null; then
    echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    echo -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
}

# Without these, ccache does not cache sources with a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

configure_preset() {
  local tree=$1 preset=$2
  local -a options
  mapfile -t options < <(configure_options "$tree/build/$preset")
  cd "$tree" && cmake --preset "$preset" "${options[@]}"
}

# build_preset TREE PRESET [TARGET...]: builds all targets if none is named. BUILD_LOG: the beginning of the logs' paths,
# by default build/logs/PRESET. FUSEGATE_BUILD_TESTS: not empty to build tests.
build_preset() {
  local tree=$1 preset=$2 log
  shift 2
  log=${BUILD_LOG:-$tree/build/logs/$preset}
  step "configuring preset $preset"
  (quietly "$log-configure.log" configure_preset "$tree" "$preset") ||
    die "CMake could not configure preset $preset; see $log-configure.log"
  step "building ${*:-everything} (log: ${log#"$PWD"/}-build.log)"
  quietly "$log-build.log" cmake --build "$tree/build/$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "preset $preset does not build; see $log-build.log"
}

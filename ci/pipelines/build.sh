# shellcheck shell=bash
# Configuring and building a preset of a source tree. Source it after environment.sh.

# What a configuration needs beyond its preset, one option a line.
configure_options() {
  # CMake remembers "no CUDA compiler" for good, so a toolkit installed later would never be seen.
  if has_nvcc || [[ ${CUDACXX:-} ]]; then
    if grep -qs '^CMAKE_CUDA_COMPILER:.*NOTFOUND$' "$1/CMakeCache.txt"; then echo -UCMAKE_CUDA_COMPILER; fi
  fi
  # CMake takes the toolkit's folder for one of the system's and leaves it out of the programs, which
  # then start only under our LD_LIBRARY_PATH, and not when a person starts them.
  if [[ ${CUDACXX:-} == "$FUSEGATE_ROOT/build/cuda/bin/nvcc" ]]; then
    echo "-DCMAKE_BUILD_RPATH=$FUSEGATE_ROOT/build/cuda/lib64"
  fi
  # Tests need libraries that measuring does not. A folder that has them keeps them.
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

# Without these ccache keeps nothing that includes a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

configure_preset() {
  local tree=$1 preset=$2
  local -a options
  mapfile -t options < <(configure_options "$tree/build/$preset")
  cd "$tree" && cmake --preset "$preset" "${options[@]}"
}

# build_preset TREE PRESET [TARGET...]: all targets where none is named. BUILD_LOG: what the logs' names
# start with, where that is not the preset's. FUSEGATE_BUILD_TESTS: not empty where tests are among them.
build_preset() {
  local tree=$1 preset=$2 log
  shift 2
  log=${BUILD_LOG:-$tree/build/logs/$preset}
  step "configuring preset $preset"
  (quietly "$log-configure.log" configure_preset "$tree" "$preset") ||
    die "CMake could not configure preset $preset (the log: $log-configure.log)"
  step "building ${*:-everything} (log: ${log#"$PWD"/}-build.log)"
  quietly "$log-build.log" cmake --build "$tree/build/$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "preset $preset does not build (the log: $log-build.log)"
}

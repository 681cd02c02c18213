# shellcheck shell=bash
# Configuring and building a preset of a source tree. Source it after environment.sh.

# CMake remembers "no CUDA compiler" for good, so a toolkit installed later would never be seen.
forget_missing_nvcc() {
  if has_nvcc || [[ ${CUDACXX:-} ]]; then
    if grep -qs '^CMAKE_CUDA_COMPILER:.*NOTFOUND$' "$1/CMakeCache.txt"; then echo -UCMAKE_CUDA_COMPILER; fi
  fi
}

configure_preset() {
  local tree=$1 preset=$2
  local -a forget
  mapfile -t forget < <(forget_missing_nvcc "$tree/build/$preset")
  cd "$tree" && cmake --preset "$preset" "${forget[@]}"
}

# build_preset TREE PRESET [TARGET...]: all targets where none is named.
build_preset() {
  local tree=$1 preset=$2 log
  shift 2
  log=$tree/build/logs/$preset
  step "configuring preset $preset"
  (quietly "$log-configure.log" configure_preset "$tree" "$preset") || die "CMake could not configure preset $preset"
  step "building ${*:-everything}"
  quietly "$log-build.log" cmake --build "$tree/build/$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "preset $preset does not build"
}

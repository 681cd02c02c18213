#!/usr/bin/env bash
# Feeds random bytes to everything that reads others' bytes (tests/fuzzing).
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/fuzz.sh [--seconds N | --runs N] [--target NAME]

  --seconds N    how long in all, the targets sharing it equally; 60 by default
  --runs N       instead: how many inputs each target is given
  --target NAME  this one alone; as often as wanted. By default all that have a folder in tests/fuzzing/testdata

Needs clang 16 or later with libFuzzer (Debian 12: clang-16, libclang-rt-16-dev, libomp-16-dev). What libFuzzer finds to be
worth keeping goes to .fusegate/fuzzing/NAME, where the next call goes on. An input that breaks a target is in
.fusegate/fuzzing/NAME-*; mend the reader, and put the input into tests/fuzzing/testdata/NAME. ctest gives each target
the inputs of testdata (preset asan), without clang too.
Exits with 0 where nothing broke, with 1 where something did, with 2 where it could not build or run.
TEXT
}

main() {
  parse_arguments "$@"
  CXX=$(find_clang)
  [[ $CXX ]] || die "no clang 16 or later with libFuzzer; on Debian 12:" \
    "sudo apt-get install clang-16 libclang-rt-16-dev libomp-16-dev"
  export CXX
  ci/setup.sh --for tests
  FUSEGATE_BUILD_TESTS=1 build_preset "$FUSEGATE_ROOT" fuzz fusegate_fuzz
  local target broken=0
  for target in "${targets[@]}"; do
    fuzz "$target" || broken=1
  done
  exit $broken
}

parse_arguments() {
  targets=() seconds=60 runs=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --seconds | --runs) require_count "$1" "$(value_of "$@")"; printf -v "${1#--}" %s "$2"; shift 2 ;;
      --target) targets+=("$(value_of "$@")"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
  local inputs=tests/fuzzing/testdata target
  [[ ${targets[*]} ]] || mapfile -t targets < <(ls "$inputs")
  for target in "${targets[@]}"; do
    [[ -d $inputs/$target ]] || die "'$target' is not a target; expected one of $(ls -m "$inputs")"
  done
}

# Prints a compiler that has libFuzzer and compiles what we write: clang 14 has no views of libstdc++.
find_clang() {
  local compiler
  for compiler in clang++ clang++-{19,18,17,16}; do
    "$compiler" -std=c++20 -fsanitize=fuzzer,address -x c++ - -o /dev/null >/dev/null 2>&1 <<'CODE' || continue
#include <ranges>
#include <vector>
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long size) {
  for (int i : std::vector<int>(size) | std::views::take(5)) size += i;
  return 0;
}
CODE
    echo "$compiler"
    return
  done
}

# The target's own output is shown where it broke, and else its last line.
fuzz() {
  local target=$1 kept=.fusegate/fuzzing/$1 log=$FUSEGATE_ROOT/build/logs/fuzz-$1.log
  local -a flags=(-artifact_prefix="$kept-" -max_len=1048576 -timeout=30)
  if [[ $runs ]]; then
    flags+=(-runs="$runs")
  else
    flags+=(-max_total_time=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]})))
  fi
  mkdir -p "$kept"
  step "fuzzing $target"
  quietly "$log" "build/fuzz/bin/fusegate_fuzz_$target" "${flags[@]}" "$kept" "tests/fuzzing/testdata/$target" &&
    tail -n 1 "$log"
}

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

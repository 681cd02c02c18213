#!/usr/bin/env bash
# Builds the benchmark program of a commit and keeps it: once for each commit and toolchain.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/build_commit.sh REVISION

Prints the path of the benchmark program of a branch, a tag or a commit, and nothing else; the rest goes to
standard error. The program lies in .fusegate/programs/COMMIT-TOOLCHAIN, with its suites. Where it is not
there yet, it is built in a work tree of its own, build/base. The logs lie beside it.
Needs no network: the commit must be in this checkout. Exits with 2 where it cannot be built.
TEXT
}

main() {
  case ${1:-} in
    --help | -h) usage; return ;;
    "") die "name a revision; see --help" ;;
  esac
  exec 3>&1 >&2
  local revision=$1 commit preset toolchain
  commit=$(git rev-parse --verify --quiet --end-of-options "$revision^{commit}") ||
    die "$revision names no commit of this checkout, which may have been cloned without its history"
  preset=$(measuring_preset)
  toolchain=$(toolchain_of "$preset")
  programs=$FUSEGATE_ROOT/.fusegate/programs
  kept=$programs/$commit-$(sha256sum <<<"$toolchain" | cut -c 1-8)
  wait_for_other_builds
  if [[ ! -e $kept ]]; then build_and_keep "$commit" "$preset" "$toolchain"; fi
  echo "$kept/fusegate_bench" >&3
}

# What would build it here. A commit may be too old to tell by itself.
toolchain_of() {
  { "${CXX:-c++}" --version || true; } 2>/dev/null | head -n 1
  { "${CUDACXX:-nvcc}" --version || true; } 2>/dev/null | tail -n 1
  echo "preset $1"
}

# Two builds would disturb each other in the one work tree. Whoever waited may find the program built.
wait_for_other_builds() {
  local lock
  mkdir -p "$programs"
  exec {lock}>"$programs/.lock"
  flock --nonblock "$lock" && return
  step "waiting for another build"
  flock "$lock"
}

# Renamed into place at the end: a build that was cut short leaves nothing that looks whole.
build_and_keep() {
  local commit=$1 preset=$2 toolchain=$3 unfinished=$programs/.unfinished
  check_out "$commit"
  step "building $(git rev-parse --short "$commit")"
  BUILD_LOG=$kept build_preset "$tree" "$preset" fusegate_bench
  rm -rf "$unfinished"
  mkdir "$unfinished"
  cp -r "$tree/build/$preset/bin/fusegate_bench" "$tree/build/$preset/bin/suites" "$unfinished"
  echo "$toolchain" >"$unfinished/toolchain"
  mv -T "$unfinished" "$kept"
}

# A work tree of its own, kept between calls so that only what changed is built again.
check_out() {
  tree=$FUSEGATE_ROOT/build/base
  git worktree prune
  if [[ -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet --force --detach "$1"
  else
    git worktree add --quiet --force --detach "$tree" "$1"
  fi || die "could not check out $1 into $tree"
}

lib=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

#!/usr/bin/env bash
# Builds and stores the benchmark program of a commit, once for each commit and toolchain.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/build_commit.sh REVISION

Prints only the path of the benchmark program of a branch, a tag or a commit; progress goes to standard error. The
program is in .fusegate/programs/COMMIT-TOOLCHAIN, with its suites, and its build logs are beside it. If it does not
exist yet, it is built in the work tree build/base. The commit must be in this checkout: nothing is fetched. Exits with 2
if the commit cannot be built.
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
    die "$revision is not a commit of this checkout; if it was cloned without its history, run git fetch --unshallow"
  preset=$(measuring_preset)
  toolchain=$(toolchain_of "$preset")
  programs=$FUSEGATE_ROOT/.fusegate/programs
  stored=$programs/$commit-$(sha256sum <<<"$toolchain" | cut -c 1-8)
  wait_for_other_builds
  if [[ ! -e $stored ]]; then build_and_store "$commit" "$preset" "$toolchain"; fi
  echo "$stored/fusegate_bench" >&3
}

# Describes the toolchain here, with this checkout's script: that of an old commit may be another one.
toolchain_of() {
  { "${CXX:-c++}" --version || true; } 2>/dev/null | head -n 1
  { "${CUDACXX:-nvcc}" --version || true; } 2>/dev/null | tail -n 1
  echo "preset $1"
}

# Two builds would disturb each other in the same work tree. After waiting, the program may be built already.
wait_for_other_builds() {
  local lock
  mkdir -p "$programs"
  exec {lock}>"$programs/.lock"
  flock --nonblock "$lock" && return
  step "waiting for another build"
  flock "$lock"
}

# The folder is renamed at the end, so that an interrupted build never looks complete.
build_and_store() {
  local commit=$1 preset=$2 toolchain=$3 unfinished=$programs/.unfinished
  check_out "$commit"
  step "building $(git rev-parse --short "$commit")"
  BUILD_LOG=$stored build_preset "$tree" "$preset" fusegate_bench
  rm -rf "$unfinished"
  mkdir "$unfinished"
  cp -r "$tree/build/$preset/bin/fusegate_bench" "$tree/build/$preset/bin/suites" "$unfinished"
  echo "$toolchain" >"$unfinished/toolchain"
  mv -T "$unfinished" "$stored"
}

# A work tree of its own, reused by later calls, which then build only what changed.
check_out() {
  tree=$FUSEGATE_ROOT/build/base
  git worktree prune
  if [[ -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet --force --detach "$1"
  else
    git worktree add --quiet --force --detach "$tree" "$1"
  fi || die "could not check out $1 into $tree"
}

# shellcheck source=ci/pipelines/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
cd "$FUSEGATE_ROOT"
main "$@"

#!/usr/bin/env bash
# Measures base and head side by side and gates the one by the other. action.yml calls it and sets, from its inputs, KERNELS,
# BASE, HEAD, SUITE, PROCESSES, FLAGS, PYTHON_PATH and INSTALL. Exits with the gate's code: 0, 1 or 2.
set -euo pipefail

main() {
  : "${KERNELS?}" "${BASE?}" "${HEAD?}" "${SUITE:?}" "${PROCESSES?}" "${FLAGS?}" "${PYTHON_PATH:?}" "${INSTALL?}"
  local base=$BASE head=$HEAD
  local -a flags
  read -ra flags <<<"$FLAGS"
  if [[ $INSTALL ]]; then install_fusegate "$INSTALL"; fi
  if [[ $KERNELS ]]; then
    [[ -f $KERNELS ]] || die "kernels: no file $PWD/$KERNELS"
    git worktree prune
    head=$(side head "$HEAD")
    base=$(side base "$BASE")
  fi
  end_with fusegate job --suite "$SUITE" --base "$base" --program "$head" ${PROCESSES:+--processes "$PROCESSES"} "${flags[@]}"
}

# side NAME COMMIT: prints the command that measures the kernels of the commit; of the checkout if none is named, and if the
# commit has no such file.
side() {
  local folder=$PWD
  if [[ $2 ]] && has_kernels "$2"; then folder=$(checkout "$1" "$2"); fi
  echo "env 'PYTHONPATH=$folder/$PYTHON_PATH${PYTHONPATH:+:$PYTHONPATH}' fusegate_bench '$folder/$KERNELS'"
}

has_kernels() {
  git rev-parse --verify --quiet --end-of-options "$1^{commit}" >/dev/null ||
    die "$1 is not a commit of this checkout; give actions/checkout the fetch-depth 2, or 0 for all commits"
  git rev-parse --verify --quiet --end-of-options "$1:./$KERNELS" >/dev/null ||
    { warn "$1 has no $KERNELS: measuring the checkout's in its place"; return 1; }
}

# checkout NAME COMMIT: prints the folder that corresponds to this one.
checkout() {
  local tree=$RUNNER_TEMP/fusegate-$1
  rm -rf "$tree"
  git worktree add --quiet --force --detach "$tree" "$2" >&2 || die "$2 cannot be checked out into $tree"
  local prefix
  prefix=$(git rev-parse --show-prefix)
  echo "$tree${prefix:+/${prefix%/}}"
}

lib=$(dirname "${BASH_SOURCE[0]}")/../pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/action/install.sh
. "$(dirname "${BASH_SOURCE[0]}")/install.sh"
main "$@"

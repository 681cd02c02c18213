# shellcheck shell=bash
# Messages of our scripts, and how they end. Source it.
#
# Exit codes are the gate's: 1 means only "a regression", so every failure here is 2, also of an unexpected command and
# after Ctrl-C.
set -E
trap 'exit 2' ERR
trap 'die "interrupted"' INT TERM

step() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# end_with COMMAND...: ends the script with the command's exit code; 2 if it is above 1, as after a signal.
end_with() {
  local verdict=0
  "$@" || verdict=$?
  exit $((verdict > 1 ? 2 : verdict))
}

# Seconds between two lines of a build's progress.
FUSEGATE_PROGRESS_S=${FUSEGATE_PROGRESS_S:-10}

# log_with_progress LOG: writes its input to LOG. Now and then it prints the progress of ninja or make, "[120/340]" or
# "[ 35%]".
log_with_progress() {
  local line terminal last=$SECONDS
  exec {terminal}>&1
  while IFS= read -r line || [[ $line ]]; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([0-9]+/[0-9]+|\ *[0-9]+%)\] ]] || continue
    ((SECONDS - last >= FUSEGATE_PROGRESS_S)) || continue
    last=$SECONDS
    step "  ${BASH_REMATCH[1]/\// of }" >&"$terminal"
  done >"$1"
}

# quietly LOG COMMAND...: runs the command with its output in LOG, and shows the log's end if it fails. Needs "set -o
# pipefail".
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if "$@" 2>&1 </dev/null | log_with_progress "$log"; then return; fi
  tail -n 80 "$log" >&2
  printf 'The whole log: %s\n' "$log" >&2
  return 2
}

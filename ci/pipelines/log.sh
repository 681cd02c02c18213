# shellcheck shell=bash
# What our scripts say and how they stop. Source it.
#
# Exit codes are the gate's: 1 means "a regression" and nothing else, so every failure of ours is 2,
# that of a command we did not think of and Ctrl-C included.
set -E
trap 'exit 2' ERR
trap 'die "interrupted"' INT TERM

step() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# end_with COMMAND...: ends the script with the command's verdict. 1 means a regression; whatever else
# stopped it (a signal, say) judged nothing.
end_with() {
  local verdict=0
  "$@" || verdict=$?
  exit $((verdict > 1 ? 2 : verdict))
}

# quietly LOG COMMAND...: runs the command with its output in LOG, and shows the log's end if it fails.
# A build prints hundreds of lines that nobody reads unless it failed.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null && return
  tail -n 80 "$log" >&2
  printf 'The whole log: %s\n' "$log" >&2
  return 2
}

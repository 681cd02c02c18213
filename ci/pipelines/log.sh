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

# As many seconds pass between two words of how far a build is.
FUSEGATE_PROGRESS_S=${FUSEGATE_PROGRESS_S:-10}

# log_with_progress LOG: its input into LOG. Of what ninja and make say of how far they are, "[120/340]" or
# "[ 35%]", it repeats a line now and then.
log_with_progress() {
  local line told last=$SECONDS
  exec {told}>&1
  while IFS= read -r line || [[ $line ]]; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([0-9]+/[0-9]+|\ *[0-9]+%)\] ]] || continue
    ((SECONDS - last >= FUSEGATE_PROGRESS_S)) || continue
    last=$SECONDS
    step "  ${BASH_REMATCH[1]/\// of }" >&"$told"
  done >"$1"
}

# quietly LOG COMMAND...: runs the command with its output in LOG, and shows the log's end if it fails. Who
# sources this has "set -o pipefail".
# A build prints hundreds of lines that nobody reads unless it failed.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if "$@" 2>&1 </dev/null | log_with_progress "$log"; then return; fi
  tail -n 80 "$log" >&2
  printf 'The whole log: %s\n' "$log" >&2
  return 2
}

#!/usr/bin/env bash
# Posts a measured pull request's verdict as a comment on it, or updates the one posted before.
#
# Everything that comes from the pull request is data here, and untrusted: the file is taken out of its
# archive by name, cut to size and disarmed, and which pull request it belongs to is asked of GitHub by
# the commit that was measured, never of the file.
set -euo pipefail

# For the zero-width space below, whatever the machine speaks.
export LC_ALL=C.UTF-8

readonly MARK='<!-- fusegate -->'
# GitHub takes comments of up to 65,536 characters.
readonly LARGEST_COMMENT_BYTES=60000
readonly LARGEST_ARCHIVE_BYTES=1000000

usage() {
  cat <<'TEXT'
Usage: comment.sh [FILE]

  FILE  the verdict, in Markdown; by default gate.md in the artifact named comment of the workflow's run

Called by action.yml, and by the workflow pull-request-comment.yml, which names no FILE. Reads GH_TOKEN, GH_REPO, RUN_ID,
RUN_URL, HEAD_SHA, HEAD_OWNER and HEAD_BRANCH from the environment; needs gh and jq, and unzip for an artifact.
TEXT
}

main() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage; return; fi
  local file=${1:-}
  : "${GH_TOKEN:?}" "${GH_REPO:?}" "${RUN_ID:?}" "${RUN_URL:?}" "${HEAD_SHA:?}" "${HEAD_OWNER:?}" "${HEAD_BRANCH:?}"
  local number
  number=$(pull_request_number)
  if [[ -z $number ]]; then
    step "no open pull request has ${HEAD_SHA:0:7} as its head (closed, or pushed again since): nothing to say"
    return
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  write_comment >"$work/comment.md"
  post "$number"
}

pull_request_number() {
  gh api --method GET "repos/$GH_REPO/pulls" -f state=open -f head="$HEAD_OWNER:$HEAD_BRANCH" |
    jq --raw-output --arg sha "$HEAD_SHA" 'map(select(.head.sha == $sha)) | .[0].number // empty'
}

write_comment() {
  echo "$MARK"
  echo "Found by this pull request's own code, at ${HEAD_SHA:0:7} ([log and report]($RUN_URL))."
  echo
  if ! [[ $file ]]; then
    fetch_verdict >"$work/gate.md" || true
  elif [[ -e $file ]]; then
    head -c "$LARGEST_COMMENT_BYTES" "$file" >"$work/gate.md"
  fi
  if [[ -s $work/gate.md ]]; then
    disarm <"$work/gate.md"
  else
    echo "The measurement ended without a verdict; the log says why."
  fi
}

# The file's text on stdout; fails where the run left none, or too large an archive. unzip -p writes no
# file, so a name in the archive cannot choose a path here; head stops one that unpacks without end.
fetch_verdict() {
  local artifact
  artifact=$(gh api "repos/$GH_REPO/actions/runs/$RUN_ID/artifacts?name=comment" |
    jq --raw-output --argjson most "$LARGEST_ARCHIVE_BYTES" \
      '.artifacts | map(select(.expired | not)) | map(select(.size_in_bytes <= $most)) | .[0].id // empty')
  [[ $artifact =~ ^[0-9]+$ ]] || return
  gh api "repos/$GH_REPO/actions/artifacts/$artifact/zip" >"$work/comment.zip" || return
  { unzip -p "$work/comment.zip" gate.md || true; } | head -c "$LARGEST_COMMENT_BYTES" >"$work/head" || true
  [[ -s $work/head ]] && cat "$work/head"
}

# Text that mentions nobody (a zero-width space after each @, also one that is written as an entity: GitHub
# looks for mentions after it has read these), passes for no comment of ours, and holds no broken UTF-8 or
# control characters, which the API refuses. What is taken out comes first, until nothing is left of it: an
# entity or a mark could stand around it.
disarm() {
  iconv -f UTF-8 -t UTF-8 -c | tr -d '\000-\010\013-\037\177' |
    sed --regexp-extended -e ":again; s/<!-- fusegate -->//g; t again" \
      -e "s/&(#0*64|#x0*40|commat);?/@/Ig; s/@/@"$'\u200b'"/g"
}

post() {
  local number=$1 comment
  comment=$(gh api --paginate "repos/$GH_REPO/issues/$number/comments" |
    jq --raw-output --slurp --arg mark "$MARK" \
      'add // [] | map(select(.user.login == "github-actions[bot]" and (.body | startswith($mark)))) | .[0].id // empty')
  if [[ $comment ]]; then
    gh api --method PATCH "repos/$GH_REPO/issues/comments/$comment" -F body=@"$work/comment.md" >/dev/null
    step "updated the comment on pull request $number"
  else
    gh api --method POST "repos/$GH_REPO/issues/$number/comments" -F body=@"$work/comment.md" >/dev/null
    step "commented on pull request $number"
  fi
}

lib=$(dirname "${BASH_SOURCE[0]}")/../pipelines
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
main "$@"

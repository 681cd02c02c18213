#!/usr/bin/env bash
# Makes a page of Markdown and manual pages of what --help of each program and command says.
# reference.sh OUT VERSION PROGRAM...: OUT gets markdown/*.md and, where help2man is installed, man/*.1.
set -euo pipefail

# Of a program without commands, nothing.
commands_of() { "$1" --help | awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'; }

section() { # HEADING CALL...
  printf '%s\n\n' "$1"
  "${@:2}" --help | sed 's/^/    /; s/ *$//'
  echo
}

manual_page() { # CALL
  local summary
  summary=$($1 --help | sed -n 1p)  # all of it is read: a closed pipe would end this script
  help2man --no-info --version-string="$version" --source="fusegate $version" --name="${summary%%. *}" \
    --include="$sections" --output="$out/man/$(basename "${1/ /-}").1" "$1"
}

out=$1 version=$2 sections=$(dirname "$0")/sections.h2m
mkdir -p "$out/markdown" "$out/man"
for program in "${@:3}"; do
  name=$(basename "$program")
  mapfile -t commands < <(commands_of "$program")
  {
    section "# $name" "$program"
    for command in "${commands[@]}"; do section "## $command" "$program" "$command"; done
  } >"$out/markdown/$name.md"
  if command -v help2man >/dev/null; then
    manual_page "$program"
    for command in "${commands[@]}"; do manual_page "$program $command"; done
  fi
done

# shellcheck shell=bash
# Reads flags. Source it after log.sh.

# value_of FLAG VALUE...: prints the value; ends the script if there is none.
value_of() {
  [[ $# -ge 2 && $2 ]] || die "$1 needs a value; see --help"
  echo "$2"
}

require_count() { [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1 is '$2'; it must be a positive number"; }

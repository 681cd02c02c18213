#!/usr/bin/env bash
# Makes a site of docs/, in build/site/html, and fails where a link or an anchor leads nowhere.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/site.sh [--preset NAME]

  --preset NAME  whose programs tell their commands: release (the default), host or asan

Open build/site/html/index.html; it needs no network. The search box needs a server, such as
`python3 -m http.server --directory build/site/html`. Installs docs/site/requirements.txt into build/site-venv.
Exits with 2 where it cannot install or build, or where MkDocs has a warning.
TEXT
}

main() {
  parse_arguments "$@"
  ci/setup.sh --for tests
  FUSEGATE_BUILD_TESTS=1 build_preset "$FUSEGATE_ROOT" "$preset" fusegate_reference
  install_venv "$venv" docs/site/requirements.txt ||
    die "could not install docs/site/requirements.txt (the log: $(venv_log "$venv")). Is PyPI in reach?"
  step "making the pages"
  "$venv/bin/python3" -B docs/site/build_pages.py --reference "build/$preset/reference" --out build/site/pages
  quietly "$FUSEGATE_ROOT/build/logs/site.log" make_site || die "the site has a warning (the log: build/logs/site.log)"
  step "the site is build/site/html/index.html"
}

# The variable: MkDocs Material says on each run that it has a successor.
make_site() {
  FUSEGATE_SITE_PAGES=$FUSEGATE_ROOT/build/site/pages FUSEGATE_SITE_OUT=$FUSEGATE_ROOT/build/site/html NO_MKDOCS_2_WARNING=1 \
    PYTHONDONTWRITEBYTECODE=1 "$venv/bin/mkdocs" build --strict --clean --config-file docs/site/mkdocs.yml
}

parse_arguments() {
  preset=release
  while [[ $# -gt 0 ]]; do
    case $1 in
      --preset) preset=$(value_of "$@"); shift 2 ;;
      --help | -h) usage; exit 0 ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
  done
}

lib=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/arguments.sh
. "$lib/arguments.sh"
# shellcheck source=ci/pipelines/environment.sh
. "$lib/environment.sh"
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
# shellcheck source=ci/pipelines/python.sh
. "$lib/python.sh"
cd "$FUSEGATE_ROOT"
venv=$FUSEGATE_ROOT/build/site-venv
main "$@"

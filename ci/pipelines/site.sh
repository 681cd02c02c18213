#!/usr/bin/env bash
# Builds docs/ as a site in build/site/html, and fails if a link or an anchor is broken.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/site.sh [--preset NAME]

  --preset NAME  the build whose programs' --help becomes the reference: release (default), host or asan

Open build/site/html/index.html; it needs no network. Its search box needs a server, such as
`python3 -m http.server --directory build/site/html`. Installs docs/site/requirements.txt into build/site-venv.
Exits with 2 if installing or building fails, or MkDocs warns.
TEXT
}

main() {
  parse_preset "$@"
  ci/setup.sh --for tests
  FUSEGATE_BUILD_TESTS=1 build_preset "$FUSEGATE_ROOT" "$preset" fusegate_reference
  install_venv "$venv" docs/site/requirements.txt ||
    die "could not install docs/site/requirements.txt; is PyPI reachable? See $(venv_log "$venv")"
  step "making the pages"
  "$venv/bin/python3" -B docs/site/build_pages.py --reference "build/$preset/reference" --out build/site/pages
  quietly "$FUSEGATE_ROOT/build/logs/site.log" make_site || die "MkDocs warns; see build/logs/site.log"
  step "the site is build/site/html/index.html"
}

# NO_MKDOCS_2_WARNING: MkDocs Material advertises its successor in each run.
make_site() {
  FUSEGATE_SITE_PAGES=$FUSEGATE_ROOT/build/site/pages FUSEGATE_SITE_OUT=$FUSEGATE_ROOT/build/site/html NO_MKDOCS_2_WARNING=1 \
    PYTHONDONTWRITEBYTECODE=1 "$venv/bin/mkdocs" build --strict --clean --config-file docs/site/mkdocs.yml
}

lib=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=ci/pipelines/build.sh
. "$lib/build.sh"
# shellcheck source=ci/pipelines/python.sh
. "$lib/python.sh"
cd "$FUSEGATE_ROOT"
venv=$FUSEGATE_ROOT/build/site-venv
main "$@"

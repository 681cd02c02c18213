# shellcheck shell=bash
# The Python environment of the reports and of the workflow checks, in build/venv. Source it after
# log.sh; call install_python_venv.

FUSEGATE_VENV=$FUSEGATE_ROOT/build/venv

make_venv() {
  # --clear: one that was made by a Python which has since gone cannot be repaired in place.
  python3 -m venv --clear "$FUSEGATE_VENV" &&
    venv_pip install --require-hashes --requirement "$FUSEGATE_ROOT/ci/requirements.txt"
}

# Few and short tries: without a network, pip's own defaults wait for minutes.
venv_pip() {
  "$FUSEGATE_VENV/bin/python3" -m pip --disable-pip-version-check --no-input --retries 2 --timeout 20 "$@"
}

install_python_venv() {
  local requirements=$FUSEGATE_ROOT/ci/requirements.txt stamp=$FUSEGATE_VENV/requirements.sha256
  local log=$FUSEGATE_ROOT/build/logs/venv.log
  sha256sum --check --status "$stamp" 2>/dev/null && "$FUSEGATE_VENV/bin/python3" -c '' 2>/dev/null && return
  step "installing ci/requirements.txt into build/venv"
  if quietly "$log" make_venv 2>/dev/null; then
    sha256sum "$requirements" >"$stamp"
  else
    rm -rf "$FUSEGATE_VENV"
    warn "no build/venv, so no HTML report and no workflow checks. Is PyPI in reach? pip's last words:"
    tail -n 1 "$log" >&2
  fi
}

# shellcheck shell=bash
# Installs the Python environment of tests, in build/venv. Source it after log.sh; call install_python_venv.

FUSEGATE_VENV=$FUSEGATE_ROOT/build/venv

# make_venv VENV REQUIREMENTS
make_venv() {
  # --clear: an environment of a Python that was removed since cannot be repaired. --no-compile: Python compiles what tests
  # import, a small part of SciPy and NumPy.
  python3 -m venv --clear "$1" && venv_pip "$1" install --no-compile --require-hashes --requirement "$2"
}

# venv_pip VENV ARGUMENT...: with few and short tries, since pip would wait for minutes without a network.
venv_pip() {
  local venv=$1
  shift
  "$venv/bin/python3" -m pip --disable-pip-version-check --no-input --retries 2 --timeout 20 "$@"
}

# install_venv VENV REQUIREMENTS: the requirements are a path from the root. After a failure, there is no environment, and
# the log has pip's error.
install_venv() {
  local venv=$1 requirements=$FUSEGATE_ROOT/$2 stamp=$1/requirements.sha256
  has_venv "$venv" "$2" && return
  step "installing $2 into ${venv#"$FUSEGATE_ROOT"/}"
  if quietly "$(venv_log "$venv")" make_venv "$venv" "$requirements" 2>/dev/null; then
    sha256sum "$requirements" >"$stamp"
  else
    rm -rf "$venv"
    return 2
  fi
}

# has_venv VENV REQUIREMENTS: whether it was made of these requirements in their present form.
has_venv() {
  grep --quiet "/$2\$" "$1/requirements.sha256" 2>/dev/null &&
    sha256sum --check --status "$1/requirements.sha256" 2>/dev/null && "$1/bin/python3" -c '' 2>/dev/null
}

venv_log() { echo "$FUSEGATE_ROOT/build/logs/$(basename "$1").log"; }

install_python_venv() {
  install_venv "$FUSEGATE_VENV" ci/requirements.txt && return
  warn "no build/venv: the tests that need its packages are skipped. Is PyPI reachable? pip's error:"
  tail -n 1 "$(venv_log "$FUSEGATE_VENV")" >&2
}

# shellcheck shell=bash
# Installs fusegate. Source it after log.sh.

# install_fusegate WHAT: a version or a wheel, by pip.
install_fusegate() {
  python3 -m pip install --quiet --disable-pip-version-check "$1" || die "pip cannot install $1"
  PATH=$PATH:$(python3 -c 'import site; print(site.getuserbase())')/bin  # where pip puts programs that are not for all users
}

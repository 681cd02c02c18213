#!/usr/bin/env bash
# A new user's first steps with the Python wheel, and with the Debian packages: installs them, runs `fusegate init`, and a
# gate that passes and then fails. In a clean Debian 12, which mmdebstrap makes in a folder. Takes one or two minutes,
# mostly downloads.
set -euo pipefail

readonly MOST_KILOBYTES=200000

usage() {
  cat <<'TEXT'
Usage: ci/pipelines/clean_debian.sh --build FOLDER | --here PACKAGES

  --build FOLDER   make the packages and the wheel of that build and install them in a clean Debian 12. Exits with 77 if
                   FUSEGATE_CLEAN_DEBIAN is not set, or this user cannot make a Debian (root can, but not in every
                   container)
  --here PACKAGES  install the packages of that folder on this machine, which must be a clean one

Exits with 0 if each gate passed and then failed for the slow kernel, else with 2.
TEXT
}

main() {
  case ${1:-} in
    --build) in_clean_folder "$(value_of "$@")" ;;
    --here) new_users "$(value_of "$@")" ;;
    --help | -h) usage ;;
    *) die "unknown argument '${1:-}'; see --help" ;;
  esac
}

in_clean_folder() {
  if [[ ${FUSEGATE_CLEAN_DEBIAN:-off} == off ]]; then
    echo "skipped: FUSEGATE_CLEAN_DEBIAN is not set"
    exit 77
  fi
  if ! command -v mmdebstrap >/dev/null || ! unshare --mount true 2>/dev/null; then
    echo "skipped: a clean Debian takes mmdebstrap, and a user who may mount (root, outside most containers)"
    exit 77
  fi
  local root=$lib/../..
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  quietly "$work/cpack.log" cpack -G DEB --config "$1/CPackConfig.cmake" -B "$work/packages"
  "$lib/wheel.sh" --build "$(cd "$1" && pwd)" --out "$work/packages"
  step "making a clean Debian 12"
  # Keeps the package lists, so that apt does not fetch them again. dpkg need not flush what is deleted at the end.
  quietly "$work/mmdebstrap.log" mmdebstrap --variant=apt --skip=cleanup/apt/lists --dpkgopt=force-unsafe-io \
    bookworm "$work/debian"
  mkdir "$work/debian/packages"
  cp "$work"/packages/*.{deb,whl} "${BASH_SOURCE[0]}" "$lib"/{log,arguments}.sh \
    "$root"/build/venv/bin/uv{,x} "$root/bench/python/fusegate/fake_runs.py" "$work/debian/packages"
  unshare --mount --pid --fork --mount-proc="$work/debian/proc" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot "$work/debian" bash /packages/clean_debian.sh --here /packages </dev/null
}

new_users() {
  local packages
  packages=$(cd "$1" && pwd)
  new_user_of_wheel "$packages"
  new_user_of_packages "$packages"
}

# uvx runs it in a fresh environment that has the wheel alone, and fetches nothing.
new_user_of_wheel() {
  local packages=$1 fakes run code=0
  local -a fusegate=("$packages/uvx" --quiet --offline --from "$packages"/*.whl fusegate)
  step "uvx --from $(basename "$packages"/*.whl) fusegate gate"
  install_packages python3
  chmod +x "$packages"/uv{,x}  # which an artifact of GitHub loses
  fakes=$(find "$lib" "$lib/../../bench" -name fake_runs.py -print -quit)
  cd "$(mktemp -d)"
  for run in "baseline 1 1" "same 2 1" "slower 3 1.2"; do
    # shellcheck disable=SC2086
    python3 "$fakes" $run
  done
  "${fusegate[@]}" gate --baseline baseline --candidate same
  "${fusegate[@]}" gate --baseline baseline --candidate slower || code=$?
  [[ $code == 1 ]] || die "the gate of the slower run ended with $code and not with 1"
  "${fusegate[@]}" init demo
}

new_user_of_packages() {
  local packages=$1 package kilobytes code=0
  step "installing $(cd "$packages" && echo fusegate_*.deb fusegate-dev_*.deb)"
  # Includes the packages that apt installs with them by default.
  kilobytes=$(installed_kilobytes)
  install_packages "$packages"/fusegate_*.deb "$packages"/fusegate-dev_*.deb
  kilobytes=$(($(installed_kilobytes) - kilobytes))
  ((kilobytes <= MOST_KILOBYTES)) || die "the packages install $kilobytes kB; they may install $MOST_KILOBYTES"
  step "the packages installed $kilobytes kB"
  for package in fusegate fusegate-dev; do
    grep -q 'Apache License' "/usr/share/doc/$package/copyright" || die "$package has no licence file"
  done
  cd "$(mktemp -d)"
  step "fusegate doctor"
  fusegate doctor
  step "fusegate init demo; demo/gate.sh --break"
  fusegate init demo
  if demo/gate.sh >gate.log 2>&1; then die "gate.sh passed without a compiler"; fi
  grep -q 'apt-get install cmake make g++' gate.log || die "gate.sh does not name what is missing: $(cat gate.log)"
  install_packages cmake make g++
  # As in a container, without USER and LOGNAME.
  env -u USER -u LOGNAME demo/gate.sh --break || code=$?
  [[ $code == 1 ]] || die "the gate of the slow kernel ended with $code and not with 1"
  grep -q 'rms_norm/fast' demo/.fusegate/reports/latest/gate.md || die "the report names no rms_norm/fast"
  if grep 'rms_norm/slow.*regression\|regression.*rms_norm/slow' demo/.fusegate/reports/latest/gate.md; then
    die "the report blames the slow kernel, which did not change"
  fi
  step "the gate passed, and then failed for the slow kernel"
}

installed_kilobytes() { dpkg-query --show --showformat '${Installed-Size}\n' | awk '{ sum += $1 } END { print sum }'; }

install_packages() { quietly /tmp/apt.log env DEBIAN_FRONTEND=noninteractive apt-get install -y "$@"; }

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ci/pipelines/log.sh
. "$lib/log.sh"
# shellcheck source=ci/pipelines/arguments.sh
. "$lib/arguments.sh"
main "$@"

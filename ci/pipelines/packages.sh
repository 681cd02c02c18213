# shellcheck shell=bash
# The system packages of Debian 12 and Ubuntu 24.04. Source it after log.sh; call install_packages PURPOSE.
#
# Checks for the tool or the header, not the package: an image with its own CMake, or a library in /usr/local, needs no
# package. The names are the same in both distributions.

readonly TOOLS=(g++ cmake ninja-build git ca-certificates python3-venv)
# What tests alone use: shellcheck reads our scripts, jq and unzip are those of comment.sh, curl sends what `fusegate notify`
# reports, Node.js runs Perfetto's importer, compare.py is Google Benchmark's own rule (docs/evidence/other-rules.md), help2man
# makes the manual pages (docs/reference), a clean Debian takes the packages that dpkg-dev makes (clean_debian.sh), and a private
# Slurm, which munge lets in, runs the shards of a sweep (ci/slurm).
readonly TEST_TOOLS=(shellcheck jq unzip curl nodejs libbenchmark-tools help2man mmdebstrap dpkg-dev file chromium-headless-shell
  slurm-wlm munge)

readonly SYSTEM_PROGRAMS=${FUSEGATE_SYSTEM_PROGRAMS:-/usr/sbin}

# A library that the distribution lacks is built from source by cmake/Dependencies.cmake.
declare -rA LIBRARY_HEADER=(
  [nlohmann-json3-dev]=nlohmann/json.hpp
  [libsimdjson-dev]=simdjson.h
  [libfmt-dev]=fmt/core.h
  [libre2-dev]=re2/re2.h
  [libcli11-dev]=CLI/CLI.hpp
  [zlib1g-dev]=zlib.h
  [libzstd-dev]=zstd.h
  [liblz4-dev]=lz4.h
  [libsqlite3-dev]=sqlite3.h
  [libboost-dev]=boost/math/distributions/students_t.hpp
  [libbenchmark-dev]=benchmark/benchmark.h
  [libdnnl-dev]=oneapi/dnnl/dnnl.hpp
  # Debian's oneDNN is built for OpenCL too. Its CMake package fails without these headers, but does not depend on them.
  [ocl-icd-opencl-dev]=CL/cl.h
)

# Only for tests.
declare -rA TEST_LIBRARY_HEADER=(
  [libgtest-dev]=gtest/gtest.h
  [libgmock-dev]=gmock/gmock.h
)

has_header() {
  local directory
  local -a directories
  IFS=: read -ra directories <<<"${FUSEGATE_INCLUDE_PATH:-/usr/include:/usr/local/include:/usr/include/$(uname -m)-linux-gnu}"
  for directory in "${directories[@]}"; do
    [[ -e $directory/$1 ]] && return
  done
  return 1
}

has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p') || return 1
  [[ $version && $(printf '3.24\n%s\n' "$version" | sort -V | head -n 1) == 3.24 ]]
}

has_program() { PATH=$PATH:$SYSTEM_PROGRAMS command -v "$1"; }

is_ubuntu() { grep -qx ID=ubuntu "${FUSEGATE_OS_RELEASE:-/etc/os-release}"; }

has_package() {
  case $1 in
    cmake) has_cmake ;;
    ninja-build) command -v ninja ;;
    ca-certificates) [[ -e /etc/ssl/certs/ca-certificates.crt ]] ;;
    # Debian's python3 has no ensurepip, without which it cannot make a virtual environment.
    python3-venv) python3 -c 'import ensurepip, venv' ;;
    nodejs) command -v node ;;
    # For the tests of pages. On Ubuntu it is only a snap, and the test is skipped.
    chromium-headless-shell) command -v "$1" || command -v chromium || is_ubuntu ;;
    dpkg-dev) command -v dpkg-shlibdeps ;;
    slurm-wlm) has_program slurmctld && has_program slurmd && has_program sbatch ;;
    munge) has_program munged ;;
    libbenchmark-tools) [[ -e ${FUSEGATE_BENCHMARK_TOOLS:-/usr/share/benchmark}/compare.py ]] ;;
    g++ | git | shellcheck | jq | unzip | curl | help2man | mmdebstrap | file) command -v "$1" ;;
    *) has_header "${LIBRARY_HEADER[$1]:-${TEST_LIBRARY_HEADER[$1]}}" ;;
  esac >/dev/null 2>&1
}

# missing_packages PURPOSE: measuring or tests
missing_packages() {
  local package
  local -a wanted=("${TOOLS[@]}" "${!LIBRARY_HEADER[@]}")
  if [[ $1 == tests ]]; then wanted+=("${TEST_TOOLS[@]}" "${!TEST_LIBRARY_HEADER[@]}"); fi
  for package in "${wanted[@]}"; do
    has_package "$package" || echo "$package"
  done | sort
}

# The command for a person who may install; every error message ends in it.
install_command() {
  echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
}

require_known_distribution() {
  local release
  # shellcheck source=/dev/null
  release=$(. "${FUSEGATE_OS_RELEASE:-/etc/os-release}" && echo "$ID $VERSION_ID") || release=unknown
  case $release in
    "debian 12" | "ubuntu 24.04") ;;
    *) die "missing: $*. This script installs packages only on Debian 12 and Ubuntu 24.04, and this is '$release':" \
      "install their contents, then run this again. On Debian: $(install_command "$@")" ;;
  esac
}

require_root() {
  if [[ $(id -u) == 0 ]]; then
    AS_ROOT=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    AS_ROOT=(sudo -n)
  else
    die "missing: $*. Installing needs root, or sudo without a password. Run: $(install_command "$@")"
  fi
}

apt_get() {
  "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

apt_knows() { apt-cache show "$1" >/dev/null 2>&1; }

all_known_to_apt() {
  local package
  for package in "$@"; do apt_knows "$package" || return 1; done
}

# Warns of a library that the distribution lacks. Keeps such a tool in the list, so that apt reports it.
installable() {
  local package
  for package in "$@"; do
    if apt_knows "$package" || [[ ! -v LIBRARY_HEADER[$package] && ! -v TEST_LIBRARY_HEADER[$package] ]]; then
      echo "$package"
    else
      warn "$package is not in this distribution's archive: CMake builds that library from source"
    fi
  done
}

# Of slurm-wlm and munge we want the programs, and no service of the machine: a test starts its own. Where an init would start
# them, as in no container, Debian's policy forbids it meanwhile.
without_services() (
  policy=$SYSTEM_PROGRAMS/policy-rc.d
  if [[ ! -e $policy ]]; then
    trap '"${AS_ROOT[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${AS_ROOT[@]}" tee "$policy" >/dev/null && "${AS_ROOT[@]}" chmod 755 "$policy"
  fi
  "$@"
)

install_from_apt() {
  local -a call=(apt_get install -y --no-install-recommends "$@")
  if [[ " $* " == *" slurm-wlm "* || " $* " == *" munge "* ]]; then call=(without_services "${call[@]}"); fi
  "${call[@]}"
}

# Updates the package lists only if necessary, since that takes longer than installing: a new container has no lists, and
# old lists name files that the mirror has removed.
apt_install() {
  local -a packages
  all_known_to_apt "$@" || apt_get update || return
  mapfile -t packages < <(installable "$@")
  [[ ${#packages[@]} == 0 ]] && return
  install_from_apt "${packages[@]}" && return
  apt_get update && install_from_apt "${packages[@]}"
}

require_tools() {
  local package
  for package in "${TOOLS[@]}"; do
    has_package "$package" || die "$package was installed but is still not usable; is an older one earlier on PATH?"
  done
}

install_packages() {
  local -a missing
  mapfile -t missing < <(missing_packages "$1")
  [[ ${#missing[@]} == 0 ]] && return
  require_known_distribution "${missing[@]}"
  require_root "${missing[@]}"
  step "installing the missing packages: ${missing[*]}"
  quietly "$FUSEGATE_ROOT/build/logs/apt.log" apt_install "${missing[@]}" ||
    die "could not install: ${missing[*]}. Check the network, then run: $(install_command "${missing[@]}")"
  require_tools
}

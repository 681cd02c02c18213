"""ci/setup.sh against fake apt-get, sudo, id and python3: what it installs, and how it stops."""

import hashlib
import pathlib
import re
import subprocess
import unittest

from script_sandbox import CI, Sandbox

PACKAGES = (CI / "pipelines" / "packages.sh").read_text()
HEADERS = dict(re.findall(r"\[(\S+)\]=(\S+)", PACKAGES))
# The tools that it looks for, and their packages; then those that tests alone need.
TOOLS = {"g++": "g++", "git": "git", "ninja": "ninja-build", "cmake": "cmake"}
TEST_TOOLS = {"shellcheck": "shellcheck", "jq": "jq", "unzip": "unzip", "curl": "curl", "node": "nodejs", "help2man": "help2man",
              "mmdebstrap": "mmdebstrap", "dpkg-shlibdeps": "dpkg-dev", "file": "file",
              "chromium-headless-shell": "chromium-headless-shell", "slurmctld": "slurm-wlm", "munged": "munge"}
TEST_PACKAGES = [*TEST_TOOLS.values(), "libbenchmark-tools", "libgtest-dev", "libgmock-dev"]
CMAKE = 'echo "cmake version 3.25.1"'

# "Installs" by making the header or the tool appear.
APT_GET = """
[[ ${FAKE_NETWORK:-up} == down ]] && { echo "E: Temporary failure resolving"; exit 100; }
while [[ $# -gt 0 && $1 != install && $1 != update ]]; do shift; done
[[ $1 == update ]] && { touch "$LISTS"; exit 0; }
"$FUSEGATE_SYSTEM_PROGRAMS/policy-rc.d" 2>/dev/null; echo "policy $?" >>"$CALLS"
for package in "$@"; do
  case $package in
    cmake) printf '#!/bin/bash\\necho "cmake version %s"\\n' "${FAKE_CMAKE:-3.25.1}" >"$BIN/cmake"; chmod +x "$BIN/cmake" ;;
    ninja-build) touch "$BIN/ninja"; chmod +x "$BIN/ninja" ;;
  esac
done
"""


class Setup(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.include = self.box.root / "include"
        self.os_release = self.box.root / "os-release"
        self.os_release.write_text("ID=debian\nVERSION_ID=12\n")
        for header in HEADERS.values():
            self.header(header).parent.mkdir(parents=True, exist_ok=True)
            self.header(header).touch()
        for tool in [*TOOLS, *TEST_TOOLS, "slurmd", "sbatch", "python3"]:
            self.box.fake(tool)
        (self.box.root / "compare.py").touch()
        self.box.fake("cmake", CMAKE)
        self.box.fake("id", "echo ${FAKE_UID:-0}")
        self.box.fake("apt-get", APT_GET)
        self.box.fake("apt-cache", 'case " $UNKNOWN " in *" $2 "*) [[ -e $LISTS && $FOREVER != yes ]] ;; esac')
        system = self.box.root / "sbin"
        system.mkdir()
        self.policy = system / "policy-rc.d"
        self.box.environment |= {
            "FUSEGATE_SYSTEM_PROGRAMS": str(system),
            "FUSEGATE_INCLUDE_PATH": str(self.include), "FUSEGATE_OS_RELEASE": str(self.os_release),
            "FUSEGATE_BENCHMARK_TOOLS": str(self.box.root), "BIN": str(self.box.bin), "LISTS": str(self.box.root / "lists"), "UNKNOWN": "", "FOREVER": "no"}
        self.pretend_venv()

    def header(self, name):
        return self.include / name

    def pretend_venv(self):
        """One that is up to date, so that setup leaves it alone."""
        requirements = self.box.root / "ci" / "requirements.txt"
        requirements.write_text("something==1.0\n")
        self.box.fake("python3", folder=self.box.root / "build" / "venv" / "bin")
        digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
        (self.box.root / "build" / "venv" / "requirements.sha256").write_text(
            f"{digest}  {self.box.root / 'ci' / '..' / 'ci' / 'requirements.txt'}\n")

    def run_setup(self, *arguments, **environment):
        return self.box.run("setup.sh", *arguments, **environment)

    def apt_calls(self):
        """Without the options, which are the same each time."""
        return [call[call.find("update" if call.endswith("update") else "install"):]
                for call in self.box.calls() if call.startswith("apt-get ")]

    def lose(self, *names):
        """Tools, and packages of headers."""
        for name in names:
            (self.header(HEADERS[name]) if name in HEADERS else self.box.bin / name).unlink()

    def test_nothing_to_do_says_nothing_and_installs_nothing(self):
        result = self.run_setup()
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.apt_calls(), [])

    def test_installs_only_what_is_missing_and_names_it(self):
        self.lose("cmake", "libfmt-dev")
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("installing the missing packages: cmake libfmt-dev", result.stdout)
        self.assertEqual(self.apt_calls(), ["install -y --no-install-recommends cmake libfmt-dev"])

    def test_checks_for_every_package(self):
        self.lose(*HEADERS, *TOOLS, *TEST_TOOLS)
        (self.box.root / "compare.py").unlink()
        result = self.run_setup(FAKE_UID="1000")
        self.assertEqual(result.returncode, 2)
        for package in [*HEADERS, *TOOLS.values(), *TEST_PACKAGES]:
            self.assertIn(f" {package}", result.stderr)

    def test_measuring_needs_no_packages_of_tests(self):
        self.lose(*TEST_TOOLS, "libgtest-dev", "libgmock-dev")
        (self.box.root / "compare.py").unlink()
        result = self.run_setup("--for", "measuring", FAKE_UID="1000")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        result = self.run_setup(FAKE_UID="1000")
        self.assertEqual(result.returncode, 2)
        for package in TEST_PACKAGES:
            self.assertIn(f" {package}", result.stderr)

    def test_measuring_asks_for_what_it_needs(self):
        self.lose("cmake", "libfmt-dev")
        self.assert_stops_with_the_command(self.run_setup("--for", "measuring", FAKE_UID="1000"))

    def test_measuring_needs_no_python_packages(self):
        (self.box.root / "build" / "venv" / "requirements.sha256").unlink()
        self.box.fake("python3", '[[ $1 == -m ]] && mkdir -p "$4/bin" && printf "#!/bin/bash\\n" >"$4/bin/python3" && chmod +x "$4/bin/python3"; true')
        self.assertEqual(self.run_setup("--for", "measuring").stdout, "")
        self.assertIn("installing ci/requirements.txt into build/venv", self.run_setup().stdout)

    def test_updates_the_lists_only_where_a_package_is_unknown(self):
        self.lose("libfmt-dev")
        self.run_setup(UNKNOWN="libfmt-dev")
        self.assertEqual(self.apt_calls(), ["update", "install -y --no-install-recommends libfmt-dev"])

    def test_a_library_that_the_archive_lacks_is_left_to_cmake(self):
        self.lose("cmake", "libdnnl-dev")
        result = self.run_setup(UNKNOWN="libdnnl-dev", FOREVER="yes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.apt_calls(), ["update", "install -y --no-install-recommends cmake"])

    def test_does_not_install_a_browser_that_exists_or_is_only_a_snap(self):
        self.lose("chromium-headless-shell")
        self.os_release.write_text("ID=ubuntu\nVERSION_ID=24.04\n")
        self.assertEqual(self.run_setup().returncode, 0)
        self.os_release.write_text("ID=debian\nVERSION_ID=12\n")
        self.box.fake("chromium")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.apt_calls(), [])

    def test_starts_no_service_of_what_it_installs(self):
        self.lose("slurmctld", "munged")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.apt_calls(), ["install -y --no-install-recommends munge slurm-wlm"])
        self.assertIn("policy 101", self.box.calls(), "Debian's policy-rc.d forbids it")
        self.assertFalse(self.policy.exists())

    def test_leaves_a_policy_as_it_is(self):
        self.lose("munged")
        self.box.fake("policy-rc.d", "exit 3", folder=self.policy.parent)
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertIn("policy 3", self.box.calls())
        self.assertTrue(self.policy.exists())

    def test_other_packages_need_no_policy(self):
        self.lose("jq")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertIn("policy 127", self.box.calls())

    def test_a_policy_does_not_stay_where_nothing_could_be_installed(self):
        self.lose("munged")
        self.assertEqual(self.run_setup(FAKE_NETWORK="down").returncode, 2)
        self.assertFalse(self.policy.exists())

    def test_an_old_cmake_counts_as_missing_also_afterwards(self):
        self.box.fake("cmake", 'echo "cmake version 3.18.4"')
        result = self.run_setup(FAKE_CMAKE="3.18.4")
        self.assertEqual(result.returncode, 2)
        self.assertIn("cmake was installed but is still not usable", result.stderr)
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.apt_calls(), ["install -y --no-install-recommends cmake"] * 2)

    def assert_stops_with_the_command(self, result):
        self.assertEqual(result.returncode, 2)
        self.assertIn("sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake libfmt-dev",
                      result.stderr)

    def test_without_root_and_a_sudo_that_asks_for_no_password_it_stops_with_the_command(self):
        self.lose("cmake", "libfmt-dev")
        for _ in ("no sudo", "one that asks"):
            self.assert_stops_with_the_command(self.run_setup(FAKE_UID="1000"))
            self.assertEqual(self.apt_calls(), [])
            self.box.fake("sudo", "exit 1")

    def test_a_sudo_without_a_password_is_used(self):
        self.lose("cmake")
        self.box.fake("sudo", 'shift; exec "$@"')
        result = self.run_setup(FAKE_UID="1000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(any(call.startswith("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get")
                            for call in self.box.calls()))

    def test_without_a_network_it_stops_with_the_command(self):
        self.lose("cmake", "libfmt-dev")
        result = self.run_setup(FAKE_NETWORK="down")
        self.assert_stops_with_the_command(result)
        self.assertIn("Check the network", result.stderr)

    def test_another_distribution_stops_and_is_named_where_a_package_is_missing(self):
        self.os_release.write_text('ID=fedora\nVERSION_ID="41"\n')
        self.assertEqual(self.run_setup().returncode, 0)
        self.lose("cmake", "libfmt-dev")
        result = self.run_setup()
        self.assert_stops_with_the_command(result)
        self.assertIn("'fedora 41'", result.stderr)
        self.assertEqual(self.apt_calls(), [])

    def test_without_pypi_it_warns_and_continues(self):
        (self.box.root / "ci" / "requirements.txt").write_text("another==2.0\n")
        self.box.fake("python3", '[[ $1 == -c ]] || { echo "No matching distribution found"; exit 1; }')
        result = self.run_setup()
        self.assertEqual(result.returncode, 0)
        self.assertIn("no build/venv", result.stderr)
        self.assertIn("No matching distribution found", result.stderr)
        self.assertFalse((self.box.root / "build" / "venv").exists())

    @unittest.skipIf(pathlib.Path("/usr/local/cuda/bin/nvcc").exists(), "this machine's nvcc would be found")
    def test_a_gpu_without_nvcc_gets_the_wheels(self):
        result = self.run_setup(FUSEGATE_GPU="on")
        self.assertIn("installing the CUDA 13.0 toolkit from PyPI", result.stdout)

    def test_a_toolkit_that_cannot_be_had_stops(self):
        self.box.fake("python3", "exit 1", folder=self.box.root / "build" / "venv" / "bin")
        self.box.fake("python3", "[[ $1 == -c ]]")
        result = self.run_setup(FUSEGATE_FORCE_CUDA_WHEELS="1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("CUDA 12.0 or later", result.stderr)

    def test_off_does_nothing(self):
        self.lose("cmake")
        result = self.run_setup(FUSEGATE_SETUP="off", FAKE_UID="1000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_an_unknown_argument_or_purpose_stops(self):
        for arguments, said in ((["--frobnicate"], "--frobnicate"), (["--for", "fun"], "--for is 'fun'; it must be measuring or tests")):
            result = self.run_setup(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(said, result.stderr)


class Locks(unittest.TestCase):
    """The lock files have every wanted package, each with a hash, since pip needs all or none."""

    WANTED = [*CI.glob("**/*.in"), *(CI.parent / "bench" / "peers").glob("*.in"),
              CI.parent / "docs" / "site" / "requirements.in"]

    def test_hold_what_is_wanted_with_hashes(self):
        self.assertEqual(len(self.WANTED), 7)
        for wanted in self.WANTED:
            with self.subTest(wanted):
                lines = wanted.with_suffix(".txt").read_text()
                with_hash = re.findall(r"^(\S+==\S+)(?: ;.*)? \\\n +--hash=sha256:[0-9a-f]{64}", lines, re.MULTILINE)
                pins = re.findall(r"^([^#\s]+==\S+)$", wanted.read_text(), re.MULTILINE)
                self.assertTrue(pins)
                self.assertEqual(set(pins) - set(with_hash), set())
                self.assertEqual(len(re.findall("^[^# ]", lines, re.MULTILINE)), len(with_hash))


class OurScripts(unittest.TestCase):
    SCRIPTS = [*CI.glob("*.sh"), *(CI / "action").glob("*.sh"), *(CI / "pipelines").glob("*.sh"), CI.parent / ".ci" / "run"]

    def test_pass_shellcheck(self):
        result = subprocess.run(["shellcheck", "--external-sources", *self.SCRIPTS], cwd=CI.parent,
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_are_executable_where_people_call_them(self):
        for script in [*CI.glob("*.sh"), CI.parent / ".ci" / "run"]:
            self.assertTrue(script.stat().st_mode & 0o111, script)

    def test_name_no_path_of_somebody_s_machine(self):
        for script in self.SCRIPTS:
            self.assertNotRegex(script.read_text(), r"/(root|work|home)/", script)

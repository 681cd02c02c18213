"""fusegate bisect from end to end: which commit it names."""

import pathlib
import sys
import unittest

from repository import NAME, RepositoryTest

SCRIPT = """#!/bin/sh
if git show "$1:kernel" | grep -q broken; then echo "no such kernel" >&2; exit 2; fi
out=.fusegate/programs/$1; mkdir -p $out; for file in kernel bench.py; do git show "$1:$file" > $out/$file; done
chmod +x $out/bench.py; echo "$PWD/$out/bench.py"
"""


class Finds(RepositoryTest):
    def test_the_slow_commit_among_noise_comments_and_one_that_does_not_build(self):
        self.comments()
        self.noise()
        broken = self.commit("break the build", "broken")
        slow = self.slower(0.05, "use 64-bit indices")
        self.noise()
        self.comments(3)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        [found] = result["found"]
        self.assertAlmostEqual(found["effect"], 0.05, delta=0.002)
        for end in ("low", "high"):  # one interval of twenty leaves out the 5 %
            self.assertAlmostEqual(found["interval"][end], 0.05, delta=0.002)
        self.assertLess(found["interval"]["low"], found["effect"])
        self.assertGreater(found["interval"]["high"], found["effect"])
        self.assertEqual(found["verdict"], "regression")
        self.assertEqual([each["hash"] for each in found["or"]], [broken])
        self.assertEqual(found["commit"]["author"], "A U Thor")
        self.assertEqual(found["commit"]["subject"], "use 64-bit indices")
        [skipped] = [step for step in result["steps"] if step["decision"] == "skipped"]
        self.assertEqual(skipped["commit"]["hash"], broken)
        self.assertIn("does not build: kernel:2: error: expected a time; see ", skipped["how"])
        self.assertIn("expected a time", pathlib.Path(skipped["how"].split("see ")[1]).read_text())
        self.assertLessEqual(result["measured_steps"], 3)
        for text in (slow, "use 64-bit indices", "A U Thor", "[+", "skipped: does not build", "measured beside"):
            self.assertIn(text, self.output)

    def test_names_one_commit_where_those_around_the_broken_one_differ_not(self):
        self.commit("break the build", "broken")
        self.comments()
        slow = self.slower(0.05)
        self.comments(2)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        self.assertEqual(result["found"][0]["or"], [])
        self.assertIn(f"{slow[:12]} made {NAME} slower by ", result["headline"])

    def test_measures_identical_code_once(self):
        self.code = 0
        self.good = self.noise()
        self.comments(6)
        slow = self.slower(0.05)
        self.comments(8)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        self.assertEqual(result["measured_steps"], 0)
        self.assertIn("machine code of void k() changed", result["found"][0]["kernel_diff"])
        self.assertEqual({step["decision"] for step in result["steps"][1:]}, {"identical code"})

    def test_an_improvement(self):
        self.comments()
        fast = self.slower(-0.03)
        self.comments()
        result = self.bisect()
        self.assertEqual(self.found(result), [fast])
        self.assertIn("faster by", result["headline"])

    def test_64_commits_in_six_measured_steps(self):
        self.comments(40)
        slow = self.slower(0.03)
        self.comments(23)
        result = self.bisect()
        self.assertEqual(result["commits"], 64)
        self.assertEqual(self.found(result), [slow])
        self.assertLessEqual(result["measured_steps"], 6)
        self.assertEqual(sum(step["decision"] == "measured" for step in result["steps"]) - 1, result["measured_steps"])

    def test_both_commits_that_share_the_change(self):
        self.comments(2)
        first = self.slower(0.02)
        self.comments(4)
        second = self.slower(0.03)
        self.comments(2)
        result = self.bisect()
        self.assertEqual(self.found(result), [first, second])
        self.assertIn("2 commits share the change of mlp/fused: ", result["headline"])
        for found, effect in zip(result["found"], (0.02, 0.03)):
            self.assertAlmostEqual(found["effect"], effect, delta=0.002)

    def test_of_a_creep_its_largest_part(self):
        for _ in range(12):
            self.slower(0.004)
        result = self.bisect()
        self.assertRegex(result["headline"], r"of \+[45]\.\d+ % in all; \+\d\.\d+ % lies in parts that are too small to follow")

    def test_goes_round_what_cannot_run(self):
        self.comments()
        crashing = self.commit("index out of bounds", "crash")
        self.comments()
        slow = self.slower(0.05)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        [skipped] = [step for step in result["steps"] if step["decision"] == "skipped"]
        self.assertEqual(skipped["commit"]["hash"], crashing)
        self.assertIn("the kernel is out of bounds", skipped["how"])

    def test_goes_round_what_is_too_noisy(self):
        noisy = self.commit("clear a cache now and then", "noise 0.1")
        slow = self.slower(0.02)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        self.assertEqual([each["hash"] for each in result["found"][0]["or"]], [noisy])
        self.assertIn(f"{NAME} slower by", result["headline"])
        self.assertIn(f"one of the 2 commits up to {slow[:12]} made", result["headline"])
        self.assertIn("skipped: undecided: ", self.output)

    def test_a_merge_is_one_commit(self):
        self.git("checkout", "--quiet", "-b", "topic")
        self.comments(2)
        self.slower(0.05)
        self.git("checkout", "--quiet", "main")
        self.ns = 10000
        (self.root / "README").write_text("more\n")
        self.comments(0)
        self.git("add", "README")
        self.git("commit", "--quiet", "--message", "write a page")
        self.git("merge", "--quiet", "--no-ff", "--message", "merge the topic", "topic")
        merge = self.git("rev-parse", "HEAD")
        result = self.bisect()
        self.assertEqual(result["commits"], 2)
        self.assertEqual(self.found(result), [merge])
        self.assertIn("it merges a branch", self.output)

    def test_what_the_checkout_s_own_script_builds(self):
        (self.root / "ci" / "pipelines").mkdir(parents=True)
        (self.root / "ci" / "pipelines" / "build_commit.sh").write_text(SCRIPT)
        (self.root / "ci" / "pipelines" / "build_commit.sh").chmod(0o755)
        self.good = self.noise()
        broken = self.commit("break the build", "broken")
        slow = self.slower(0.05)
        result = self.bisect(build=())
        self.assertEqual(self.found(result), [slow])
        self.assertEqual([each["hash"] for each in result["found"][0]["or"]], [broken])
        self.assertIn("skipped: no such kernel", self.output)

    def test_kernels_in_a_file_that_needs_no_build(self):
        self.comments()
        slow = self.slower(0.05)
        result = self.bisect(build=("--program", f"{sys.executable} bench.py"))
        self.assertEqual(self.found(result), [slow])


if __name__ == "__main__":
    unittest.main()

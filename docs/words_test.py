"""No word that the project has given up is left: in code, messages, flags, file names or docs.

One thing has one name. OLD_WORDS lists the names of before, and what to say now. Readers of files and flags that were
written before must know some of them: EXCEPTIONS lists these by path, and an exception that is not needed fails too.

CamelCase, snake_case and file names are split into words first, so OddProcess, odd_process and "odd process" are the same.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHOWN = 40
# Other tools' names that contain an old word.
FOREIGN = re.compile(r"invocation_params|(?:make|push|pop|sort|is)_heap|places=\d|\b(?:std::)?(?:floor|tell[gp])\(|"
                     r"heap-(?:buffer-overflow|use-after-free)")
# Not read: what was measured or generated, and what others wrote.
UNREAD = re.compile(r"(?:^|/)testdata/|^baselines/(?:nvidia-|published)|(?:^|/)[\w-]*requirements[\w-]*\.txt$|"
                    r"^ci/pipelines/(?!CMake)[\w-]+\.txt$|^LICENSE$|^docs/words_test\.py$|\.(?:gz|xz|svg|png)$")

# A pattern of words in lower case, and what to say instead.
OLD_WORDS = {
    r"invocations?": "process",
    r"(?<!in )(?<!takes )(?<!take )(?<!took )(?<!taking )(?<!taken )(?<!decimal )(?<!first )(?<!'s )(?<!its )(?<!their )"
    r"places?": "memory layout, or index",
    r"contest(?:s|ed|ant|ants|ing)?": "autotuning, candidate",
    r"firsts": "first candidates",
    r"yardsticks?|floors?": "roofline time",
    r"(?<!long )standings?": "peer comparison",
    r"departures?": "relative deviation",
    r"odd (?:process|processes|one out)": "outlier",
    r"siblings?": "inliers",
    r"heaps?|one of two ways": "cluster, bimodal",
    r"untold": "unexplained",
    r"stor(?:y|ies)": "kernel diff",
    r"equal work": "identical code",
    r"company": "co-measured benchmarks",
    r"complain(?:s|ed|t|ts|ing)?": "warning, message",
    r"doubts": "warnings",
    r"ledgers?": "run file recorder",
    r"(?:kept|keeps?|taken?) strictly|strictly (?:kept|taken)|kept (?:choices?|kernels?|one)|place kept": "pinned choice",
    r"arms?": "baseline, candidate, or program",
    r"(?:a|an|the|each|every|first|last|next|one|two|three|between|of|per|more|these|those) looks?|looked at|last look|"
    r"looks at": "interim analysis; reads, examines",
    r"told|tells?|telling": "reported, estimated from, shows, known",
    r"(?:says?|said|knows?) nothing of": "does not report",
    r"by how much": "the size of the effect",
    r"heed(?:s|ed|ing)?": "follow",
    r"for ever": "without limit; always",
}
# In string literals of code, and in messages that docs quote.
OLD_MESSAGES = {
    r"\b(?:is|are) no (?!longer\b|more\b|less\b|later\b|other\b|earlier\b|slower\b|faster\b|regression\b)[a-z]+|\b(?:is|are) none of\b":
        "is not a ...; expected ...",
}
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"')
CODE = {".cc", ".h", ".cu", ".cuh", ".py", ".sh", ".js"}

# path: old words that it must know.
EXCEPTIONS = {
    # Keys of files, flags and variables of before.
    "baselines/launches/kernel_profile.cc": {"invocations"},
    "baselines/record/entry_key.cc": {"invocation"},
    "baselines/record/entry_key_test.cc": {"invocation"},
    "baselines/record/load_run_test.cc": {"invocation", "invocations", "places"},
    "baselines/record/program_variables.h": {"keep strictly"},
    "baselines/record/run_blocks.cc": {"invocations"},
    "baselines/record/warning.cc": {"doubts"},
    "baselines/record/warning.h": {"doubts"},
    "baselines/record/warning_test.cc": {"doubts"},
    "baselines/record/run_context.cc": {"invocation", "places"},
    "baselines/record/run_context.h": {"invocation", "places"},
    "baselines/record/run_file.h": {"invocation"},
    "bench/machine/log_warning.h": {"invocation"},  # program_invocation_short_name, of the C library
    "bench/measuring/existing_run_file_test.cc": {"invocation"},
    "bench/plan/options.cc": {"invocation", "keep strictly", "places"},
    "bench/plan/suite.cc": {"places"},
    "bench/plan/suite.h": {"places"},
    "bench/plan/suite_test.cc": {"invocation", "keep strictly", "places"},
    "bench/profiling/launch_arguments.cc": {"place"},  # stored identities were hashed with it
    "bench/program/c_interface.cc": {"invocation"},  # the same
    "bench/program/program_test.py": {"keep strictly"},
    # Flags and variables of programs, keys of run.json and of A/A histories.
    "ci/commands/measuring/calibrate.cc": {"invocations"},
    "ci/commands/measuring/command_line_test.cc": {"invocations"},
    "ci/commands/measuring/duet_test.cc": {"keep strictly"},
    "ci/commands/measuring/options.cc": {"invocations"},
    "ci/commands/measuring/run_test.cc": {"invocation"},
    "ci/gate/aa_findings.cc": {"invocations"},
    "ci/gate/aa_history.cc": {"invocations"},
    "ci/gate/aa_history_test.cc": {"invocations"},
    "ci/pipelines/compare.sh": {"invocations"},
    "ci/pipelines/jobs_test.py": {"invocations"},
    "ci/pipelines/replay_test.py": {"invocation"},
    "ci/run.sh": {"invocations"},
    "ci/run/identification_test.cc": {"keep strictly"},
    "ci/processes/process.cc": {"invocation"},
    "ci/processes/process_test.cc": {"invocation"},
    "ci/processes/run_record.cc": {"arm", "invocations"},
    "ci/processes/run_record.h": {"invocations"},
    "ci/processes/run_record_test.cc": {"arm", "invocations"},
    # Commands as they were at that commit.
    "docs/evidence/article.md": {"invocation", "invocations"},
    # Keys of stored files.
    "docs/schema/baseline.schema.json": {"doubts", "invocations"},
    "docs/schema/calibration.schema.json": {"doubts", "invocations"},
    "docs/schema/common.schema.json": {"doubts", "places"},
    "docs/schema/run-file.schema.json": {"doubts", "invocation"},
    "docs/schema/schema_test.py": {"doubts", "invocation", "places"},
    "docs/schema/suite.schema.json": {"places"},
    # The flag that `fusegate run` gives to programs of every version.
    "tests/fakes/fake_program.cc": {"invocation"},
    # glibc's program_invocation_short_name.
    "tests/faults/faulty_calls.cc": {"invocation"},
}


def words_of(text):
    """The text in lower case, with spaces between the words of identifiers. Lines stay lines."""
    text = FOREIGN.sub(lambda match: " " * len(match[0]), text)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+|(?<=\w)-(?=\w)", " ", text).lower()


PATTERNS = [(re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])"), said) for pattern, said in OLD_WORDS.items()]
# Every pattern has one of these. Most lines have none, and are not searched for the patterns.
STEMS = re.compile("invoc|place|contest|firsts|yardstick|floor|standing|depart|odd|sibling|heap|ways|untold|stor[yi]|equal|company|"
                   "complain|doubts|ledger|strict|kept|keep|arm|look|told|tell|nothing|how|heed|ever", re.IGNORECASE)
MESSAGES = [(re.compile(pattern), said) for pattern, said in OLD_MESSAGES.items()]


def found_in(path, text):
    """(line, old word, what to say) of each old word in the path (line 0) and the text."""
    found = []
    for number, line in enumerate([re.sub(r"[/.]", " ", path), *text.split("\n")]):
        if STEMS.search(line):
            words = words_of(line)
            found += [(number, match[0], said) for pattern, said in PATTERNS for match in pattern.finditer(words)]
    if pathlib.Path(path).suffix in CODE:
        for number, line in enumerate(text.split("\n"), 1):
            if " no" in line:
                found += [(number, match[0], said) for literal in LITERALS.finditer(line) for pattern, said in MESSAGES
                          for match in pattern.finditer(literal[0])]
    return found


def is_binary(data):
    return b"\0" in data[:1000]


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise unittest.SkipTest("not a git checkout")
    for path in listed.stdout.split("\0"):
        if path and not UNREAD.search(path) and (ROOT / path).is_file():
            data = (ROOT / path).read_bytes()
            if not is_binary(data):
                yield path, data.decode("utf-8", "replace")


class WordsTest(unittest.TestCase):
    def test_no_old_word_is_left(self):
        left, unneeded = [], []
        for path, text in tracked():
            known = EXCEPTIONS.get(path, set())
            found = found_in(path, text)
            unneeded += [f"{path}: {word}" for word in sorted(known - {word for _, word, _ in found})]
            left += sorted({f"{path}:{line}: {word} -> {said}": line for line, word, said in found if word not in known})
        if left:
            more = [f"... and {len(left) - SHOWN} more; docs/words_test.py --all lists all"] if len(left) > SHOWN else []
            self.fail("\n" + "\n".join(left[:SHOWN] + more))
        if unneeded:
            self.fail("\nnot needed in EXCEPTIONS:\n" + "\n".join(unneeded))


class FoundTest(unittest.TestCase):
    """Planted words are found, and ordinary English is not."""

    def words(self, text, path="a.cc"):
        return [word for _, word, _ in found_in(path, text)]

    def test_in_code(self):
        for text, word in (("OddProcess one;", "odd process"), ("odd_processes()", "odd processes"), ("kForEver", "for ever"),
                           ("contest_of_pairs", "contest"), ("the_place_kept", "place"), ("two_heaps", "heaps"),
                           ("int invocations;", "invocations"), ("--max-invocations", "invocations"),
                           ("using BetweenLooks", "between looks"), ("std::vector<Arm>", "arm"), ("equalWork", "equal work")):
            self.assertIn(word, self.words(text), text)

    EXAMPLES = ("invocation", "places", "contestants", "firsts", "yardstick", "standings", "departure", "odd one out", "siblings",
                "two heaps", "untold", "stories", "equal work", "company", "complaint", "doubts", "ledger", "strictly kept", "arms",
                "between looks", "told", "says nothing of", "by how much", "heeds", "for ever")

    def test_every_old_word(self):
        for word in self.EXAMPLES:
            self.assertTrue(self.words(f"// so {word} it is"), word)
        unseen = [pattern for pattern, _ in PATTERNS if not any(pattern.search(word) for word in self.EXAMPLES)]
        self.assertEqual(unseen, [])

    def test_in_messages_docs_and_file_names(self):
        self.assertEqual(self.words('throw Error("x is no number");'), ["is no number"])
        self.assertEqual(self.words('throw Error("\\"x\\" is none of the 12");'), ["is none of"])
        self.assertEqual(self.words("By how much, equal work\ntells here.", "docs/page.md"), ["equal work", "by how much", "tells"])
        self.assertEqual(found_in("ci/report/story_text.cc", ""), [(0, "story", "kernel diff")])
        self.assertEqual(found_in("a/standings.md", "x\nits departure\n")[1][:2], (2, "departure"))

    def test_not_in_ordinary_english_and_names_of_others(self):
        for text in ("changed in place of", "takes place", "decimal places", "emplace(replacement)", "std::make_heap(a)",
                     "it looks like", "store restored", "history", "standard", "alarm arms_length"[:5], "std::floor(x)",
                     "arm64", "stream.tellp()", "understood", "config.invocation_params.dir", "hotel intelligent",
                     '"there is no longer any"', "// this is no number, in a comment", "accompany", "encompassing"):
            self.assertEqual(self.words(text), [], text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--all"]:
        SHOWN = sys.maxsize
        sys.argv.pop()
    unittest.main()

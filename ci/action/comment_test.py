"""ci/action/comment.sh against a fake gh: what it trusts, and what it makes of what it does not trust."""

import html
import io
import json
import shutil
import sys
import unittest
import zipfile

from script_sandbox import Sandbox

if not all(map(shutil.which, ["jq", "unzip"])):
    print("skipped: no jq or unzip; the script runs on GitHub's machines, which have both")
    sys.exit(77)

HEAD = "1234567890abcdef1234567890abcdef12345678"

# Answers from files, and keeps the posted body.
GH = """
for argument in "$@"; do
  case $argument in
    body=@*) cp "${argument#body=@}" "$API/posted" ;;
    repos/*/zip) cat "$API/zip"; exit ;;
    repos/*/artifacts\\?*) cat "$API/artifacts"; exit ;;
    repos/*/pulls) cat "$API/pulls"; exit ;;
    repos/*/issues/*/comments) [[ $* == *--paginate* ]] && { cat "$API/comments"; exit; } ;;
  esac
done
"""


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files.items():
            zipped.writestr(name.replace("__", "/").replace("_md", ".md"), content)
    return buffer.getvalue()


class Comment(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.api = self.box.root.parent / "api"
        self.api.mkdir()
        self.box.fake("gh", GH)
        self.box.environment |= {
            "API": str(self.api), "GH_TOKEN": "token", "GH_REPO": "team/kernels", "RUN_ID": "77",
            "RUN_URL": "https://github.com/team/kernels/actions/runs/77", "HEAD_SHA": HEAD,
            "HEAD_OWNER": "somebody", "HEAD_BRANCH": "a;touch pwned"}
        self.answer("pulls", [{"number": 4, "head": {"sha": "f" * 40}}, {"number": 5, "head": {"sha": HEAD}}])
        self.answer("artifacts", {"artifacts": [{"id": 9, "size_in_bytes": 1000, "expired": False}]})
        self.answer("comments", [])
        self.verdict("no regression\n")

    def answer(self, name, value):
        (self.api / name).write_text(json.dumps(value))

    def verdict(self, text):
        (self.api / "zip").write_bytes(archive(gate_md=text))

    def post(self, *arguments):
        result = self.box.run("action/comment.sh", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        posted = self.api / "posted"
        return posted.read_text() if posted.exists() else None

    def test_posts_the_verdict_to_the_pull_request_of_that_commit(self):
        body = self.post()
        self.assertTrue(body.startswith("<!-- fusegate -->\n"))
        self.assertIn("at 1234567 ", body)
        self.assertTrue(body.endswith("no regression\n"))
        self.assertTrue(any("repos/team/kernels/issues/5/comments" in call and "--method POST" in call
                            for call in self.box.calls()))
        self.assertIn("-f head=somebody:a;touch pwned", self.box.calls()[0])

    def test_posts_the_verdict_of_a_file(self):
        file = self.api / "gate.md"
        self.assertIn("without a verdict", self.post(str(file)))
        file.write_text("for @octocat\n" + "x" * 100_000)
        self.assertTrue(self.post(str(file)).startswith("<!-- fusegate -->\nFound"))
        self.assertIn("for @\u200boctocat\n", self.post(str(file)))
        self.assertLess(len(self.post(str(file))), 65536)
        self.assertFalse(any("artifacts" in call for call in self.box.calls()))

    def test_says_nothing_where_the_commit_heads_no_open_pull_request(self):
        self.answer("pulls", [{"number": 4, "head": {"sha": "f" * 40}}])
        self.assertIsNone(self.post())

    def test_updates_its_own_comment_and_nobody_else_s(self):
        self.answer("comments", [
            {"id": 1, "user": {"login": "somebody"}, "body": "<!-- fusegate -->\nmine"},
            {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "another bot's words"},
            {"id": 3, "user": {"login": "github-actions[bot]"}, "body": "<!-- fusegate -->\nold"}])
        self.post()
        self.assertTrue(any("--method PATCH repos/team/kernels/issues/comments/3" in call for call in self.box.calls()))

    def test_mentions_nobody_by_name_or_by_an_entity(self):
        ways = ["@", "&#64;", "&#064;", "&#0000064;", "&#x40;", "&#X40;", "&#x0040;", "&commat;", "&#64", "&#x40",
                "&#6<!-- fusegate -->4;", "&#6\x1b4;", "&#6<!-- fuse<!-- fusegate -->gate -->4;", "&com\0mat;"]
        self.verdict("".join(f"thanks {at}octocat and {at}octo-org/team\n" for at in ways))
        shown = html.unescape(self.post())
        self.assertTrue(shown.endswith("thanks @\u200boctocat and @\u200bocto-org/team\n" * len(ways)), shown)

    def test_leaves_other_entities_alone(self):
        self.verdict("a &#124; b &#96; c &#38;#64; d &amp;\n")
        self.assertTrue(self.post().endswith("a &#124; b &#96; c &#38;#64; d &amp;\n"))

    def test_drops_control_characters_and_marks_of_ours(self):
        self.verdict(b"a\x00b\x1b[31m<!-- fusegate -->\xff tail\n")
        self.assertTrue(self.post().endswith("\n\nab[31m tail\n"))

    def test_cuts_a_long_text(self):
        self.verdict("x" * 1_000_000)
        self.assertLess(len(self.post()), 65536)

    def test_an_archive_cannot_write_a_file(self):
        (self.api / "zip").write_bytes(archive(**{"..__..__pwned_md": "x", "gate_md": "fine\n"}))
        before = sorted(path.name for path in self.box.root.parent.rglob("*"))
        self.assertTrue(self.post().endswith("fine\n"))
        after = sorted(path.name for path in self.box.root.parent.rglob("*") if path.name not in ("posted", "calls"))
        self.assertEqual(before, after)

    def test_says_so_where_there_is_no_verdict_or_too_large_an_archive(self):
        for artifacts, archived in (([], None), ([{"id": 9, "size_in_bytes": 1_000_001, "expired": False}], None),
                                    ([{"id": 9, "size_in_bytes": 10, "expired": False}], b"not an archive")):
            with self.subTest(artifacts):
                self.answer("artifacts", {"artifacts": artifacts})
                (self.api / "zip").write_bytes(archived or archive(gate_md="x"))
                self.assertIn("without a verdict", self.post())

    def test_stops_where_github_does_not_answer(self):
        self.box.fake("gh", "exit 1")
        self.assertEqual(self.box.run("action/comment.sh").returncode, 2)

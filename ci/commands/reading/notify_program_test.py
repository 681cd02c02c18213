"""fusegate notify against a server of this machine: a webhook, and GitHub's issues as far as it uses them."""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

if not shutil.which("curl"):
    print("skipped: no curl")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ["FUSEGATE_PROGRAM"]
TOKEN = "ghp_secretsecret"
HOOK = "/services/secretsecret"
ISSUES = "/repos/org/kernels/issues"


def gate_json(exit_code=1, effect=0.03):
    verdicts = [{"benchmark": "geglu/fused", "verdict": "regression" if exit_code == 1 else "unchanged", "effect": effect}]
    return {"exit_code": exit_code, "headline": ["No regression", "1 regression", "no run"][exit_code],
            "verdicts": verdicts if exit_code < 2 else [], "settings": {"^geglu/": {"owner": "@org/team"}}}


class Server(http.server.ThreadingHTTPServer):
    """Answers with `refusals` first, each a status and headers; then as a webhook and as GitHub do."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.refusals, self.requests, self.issues, self.hangs = [], [], [], False
        self.released = threading.Event()

    def handle_error(self, request, client_address):
        pass  # a client that gave up


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = self.server
        server.requests.append((self.command, self.path, dict(self.headers), json.loads(sent) if sent else None))
        if server.hangs:
            server.released.wait(60)
            return
        if server.refusals:
            status, headers = server.refusals.pop(0)
            self.answer(status, {"message": f"not by {TOKEN}"}, headers)
        elif self.path == HOOK:
            self.answer(200, "ok")
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.answer(401, {"message": "Bad credentials"})
        else:
            self.github(json.loads(sent) if sent else {})

    do_GET = do_POST = do_PATCH = handle_any

    def github(self, sent):
        issues = self.server.issues
        path, _, query = self.path.partition("?")
        if self.command == "GET" and path == ISSUES and "page=1" in query.split("&"):
            self.answer(200, issues)
        elif self.command == "POST" and path == ISSUES:
            issues.append({**sent, "number": len(issues) + 1, "state": "open", "labels": [{"name": name} for name in sent["labels"]]})
            self.answer(201, issues[-1])
        elif self.command == "PATCH" and path.startswith(ISSUES + "/"):
            issues[int(path.rpartition("/")[2]) - 1].update(sent)
            self.answer(200, {})
        else:
            self.answer(404, {"message": "Not Found"})


class NotifyTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.gate = pathlib.Path(folder.name) / "gate.json"
        self.gate.write_text(json.dumps(gate_json()))
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.released.set)
        address = f"http://127.0.0.1:{self.server.server_port}"
        self.environment = {**os.environ, "FUSEGATE_WEBHOOK_URL": address + HOOK, "GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": address,
                            "no_proxy": "*"}

    def fusegate(self, *arguments, code=0):
        """What it printed, which never has a secret."""
        ended = subprocess.run([PROGRAM, *arguments], env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        printed = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, code, printed)
        self.assertNotIn("secretsecret", printed)
        self.assertLessEqual(len(ended.stderr.splitlines()), 1, printed)
        return printed

    def notify(self, *flags, code=0):
        return self.fusegate("notify", "--gate", self.gate, *flags, code=code)

    def methods(self):
        return [method for method, *_ in self.server.requests]


class Notify(NotifyTest):
    def test_sends_nothing_unless_it_is_asked_to(self):
        for name in "FUSEGATE_WEBHOOK_URL", "GITHUB_TOKEN":
            del self.environment[name]
        printed = self.notify("--webhook", "--github", "org/kernels")
        self.assertIn("would open an issue, or update it: gate: 1 regression", printed)
        self.assertIn("- geglu/fused: +3.00 %\n- owners: @org/team", printed)
        self.assertIn('"text": "fusegate: 1 finding', printed)
        self.assertEqual(self.server.requests, [])

    def test_posts_to_the_webhook(self):
        self.assertIn("webhook: posted 1 finding", self.notify("--webhook", "--send", "--page", "https://example.org/page"))
        [(method, path, headers, body)] = self.server.requests
        self.assertEqual((method, path, headers["Content-Type"]), ("POST", HOOK, "application/json"))
        self.assertEqual(body["text"], "fusegate: 1 finding\ngate: 1 regression (@org/team)\nhttps://example.org/page")
        self.assertEqual(body["findings"][0]["regressions"], [{"benchmark": "geglu/fused", "effect": 0.03}])

    def test_posts_nothing_where_the_gate_passes(self):
        self.gate.write_text(json.dumps(gate_json(0)))
        self.assertIn("webhook: nothing new", self.notify("--webhook", "--send"))
        self.assertEqual(self.server.requests, [])

    def test_opens_updates_and_closes_an_issue_and_does_nothing_twice(self):
        flags = "--github", "org/kernels", "--send"
        for gate, said, methods in ((gate_json(), "opened #1", ["GET", "POST"]), (gate_json(), None, ["GET"]),
                                    (gate_json(effect=0.05), "updated #1", ["GET", "PATCH"]), (gate_json(2), None, ["GET"]),
                                    (gate_json(0), "closed #1", ["GET", "PATCH"]), (gate_json(0), None, ["GET"])):
            self.server.requests.clear()
            self.gate.write_text(json.dumps(gate))
            printed = self.notify(*flags)
            self.assertEqual(self.methods(), methods)
            self.assertEqual(printed.count("#1"), 1 if said else 0)
            self.assertIn(said or "", printed)
        [issue] = self.server.issues
        self.assertEqual((issue["state"], issue["title"], issue["labels"]), ("closed", "gate: No regression", [{"name": "fusegate"}]))

    def test_ends_where_the_host_gives_no_answer(self):
        self.server.hangs = True
        started = time.monotonic()
        printed = self.notify("--webhook", "--send", "--timeout-s", "1", code=2)
        self.assertLess(time.monotonic() - started, 10)
        self.assertIn("fusegate: 127.0.0.1: gives no answer within 1 s\n", printed)
        self.assertEqual(len(self.server.requests), 1)

    def test_tries_again_where_the_host_is_busy(self):
        for refusal in (500, []), (429, [("Retry-After", "1")]), (403, [("Retry-After", "1")]):
            self.server.requests.clear()
            self.server.refusals = [refusal]
            started = time.monotonic()
            self.notify("--webhook", "--send")
            self.assertGreater(time.monotonic() - started, 0.9)
            self.assertEqual(self.methods(), ["POST", "POST"])

    def test_gives_up_where_the_host_asks_to_wait_for_long(self):
        self.server.refusals = [(429, [("Retry-After", "3600")])]
        self.assertIn("127.0.0.1: answers 429 and asks to wait 3600 s", self.notify("--webhook", "--send", code=2))

    def test_names_the_host_alone_where_it_refuses(self):
        for flags, status, said in ((["--webhook"], 404, "127.0.0.1: answers 404; check FUSEGATE_WEBHOOK_URL"),
                                    (["--webhook"], 307, "127.0.0.1: answers 307; it was moved"),
                                    (["--github", "org/kernels"], 401, "127.0.0.1: org/kernels: answers 401: not by ***; GITHUB_TOKEN is not valid"),
                                    (["--github", "org/kernels"], 301, "it was moved")):
            with self.subTest(flags=flags, status=status):
                self.server.requests.clear()
                # Where it leads would get the secret.
                self.server.refusals = [(status, [("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")])]
                self.assertIn(said, self.notify(*flags, "--send", code=2))
                self.assertEqual(len(self.server.requests), 1)

    def test_one_target_gets_it_though_the_other_refuses(self):
        self.server.refusals = [(404, [])]
        printed = self.notify("--webhook", "--github", "org/kernels", "--send", code=2)
        self.assertIn("webhook: posted 1 finding", printed)
        self.assertIn("org/kernels: answers 404", printed)

    def test_no_secret_is_on_a_command_line(self):
        self.server.hangs = True
        child = subprocess.Popen([PROGRAM, "notify", "--gate", self.gate, "--webhook", "--send", "--timeout-s", "30"],
                                 env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.ExitStack() as stack:
            stack.callback(child.wait)
            stack.callback(child.kill)
            while not self.server.requests:
                self.assertIsNone(child.poll())
                time.sleep(0.05)
            lines = [path.read_bytes() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
            self.assertTrue([line for line in lines if line.startswith(b"curl\0")])
            self.assertEqual([line for line in lines if b"secretsecret" in line], [])

    def test_says_what_is_wrong_and_what_to_do(self):
        address = f"http://127.0.0.1:{self.server.server_port}"
        for variable, value, flags, said in (
                ("FUSEGATE_WEBHOOK_URL", "", ["--webhook"], "FUSEGATE_WEBHOOK_URL: is not set; set this environment variable"),
                ("FUSEGATE_WEBHOOK_URL", "http://example.org/secretsecret", ["--webhook"], "FUSEGATE_WEBHOOK_URL: must begin with https://"),
                ("FUSEGATE_WEBHOOK_URL", f"{address}{HOOK}\nproxy = x", ["--webhook"], "FUSEGATE_WEBHOOK_URL: has blanks"),
                ("FUSEGATE_WEBHOOK_URL", "https://fusegate.invalid/secretsecret", ["--webhook"], "fusegate.invalid: "),
                ("FUSEGATE_WEBHOOK_URL", f"http://127.0.0.1:1{HOOK}", ["--webhook"], "127.0.0.1: cannot be reached"),
                ("GITHUB_TOKEN", "", ["--github", "org/kernels"], "GITHUB_TOKEN: is not set"),
                ("GITHUB_API_URL", "ftp://example.org", ["--github", "org/kernels"], "GITHUB_API_URL: must begin with https://"),
                ("PATH", "/nowhere", ["--webhook"], "curl: cannot be started (No such file or directory); install it"),
                ("X", "", ["--github", "kernels"], "--github: must be OWNER/REPO, not kernels"),
                ("X", "", ["--github", "org/.."], "--github: must be OWNER/REPO"),
                ("X", "", ["--webhook", "--label", "a b"], "--label: must be"),
                ("X", "", ["--webhook", "--page", "javascript:x"], "--page: must be an address"),
                ("X", "", ["--webhook", "--timeout-s", "0"], "--timeout-s: must be above 0"),
                ("X", "", [], "--send: has nowhere to send to")):
            with self.subTest(said=said):
                before = dict(self.environment)
                self.environment[variable] = value
                self.assertIn("fusegate: " + said, self.notify(*flags, "--send", code=2))
                self.environment = before
        self.assertEqual(self.server.requests, [])

    def test_refuses_what_is_not_a_gate_s_file(self):
        for text, said in (("", "gate.json"), ("[]", "must be an object"), ("{}", "exit_code: is missing"),
                           (json.dumps({**gate_json(), "owners": {"a": "@x y"}}), "owners.a: must be")):
            with self.subTest(text=text):
                self.gate.write_text(text)
                self.assertIn(said, self.notify("--webhook", "--send", code=2))
        self.gate.unlink()
        self.assertIn("gate.json", self.notify(code=2))
        self.assertEqual(self.server.requests, [])


@unittest.skipIf(b"\n  history " not in subprocess.run([PROGRAM, "--help"], capture_output=True, check=False).stdout, "keeps no history")
class Nights(NotifyTest):
    """Change points of a history, put into it as they are found; and triage."""

    def setUp(self):
        super().setUp()
        self.db = self.gate.with_name("history.db")
        self.gate.write_text(json.dumps(gate_json(0)))
        self.fusegate("history", "import", "--db", self.db, ROOT / "baselines" / "nvidia-h200" / "pr.json")

    def add(self, subject, effect, confirmation, session="n3"):
        row = {"subject": subject, "benchmarks": f'["{subject}"]', "first_session": session, "last_session_before": "n2",
               "alarm_session": session, "effect": effect, "low": effect - 0.005, "high": effect + 0.005, "class": "code",
               "reason": "commit a..b", "confirmation": confirmation}
        with contextlib.closing(sqlite3.connect(self.db)) as history, history:
            history.execute(f"INSERT INTO change_point({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))

    def settle(self):
        self.server.requests.clear()
        return self.notify("--db", self.db, "--github", "org/kernels", "--webhook", "--send")

    def posted(self):
        return [body for _, path, _, body in self.server.requests if path == HOOK]

    def test_reports_what_a_duet_confirmed_once_and_what_it_did_not_in_one_line(self):
        self.add("geglu/fused", 0.03, "asked")
        self.add("linear/addmm", 0.02, "refuted")
        self.settle()
        self.assertEqual(self.server.issues, [])
        [message] = self.posted()
        self.assertEqual(message["text"], "fusegate: 1 finding\n2 changes are not confirmed: linear/addmm (+2.00 %), geglu/fused (+3.00 %)")
        with contextlib.closing(sqlite3.connect(self.db)) as history, history:
            history.execute("UPDATE change_point SET confirmation = 'confirmed' WHERE subject = 'geglu/fused'")
        self.settle()
        [issue] = self.server.issues
        self.assertEqual((issue["state"], issue["title"]), ("open", "geglu/fused is 3.00 % slower since n3"))
        self.assertIn("- owners: @org/team", issue["body"])
        [message] = self.posted()
        self.assertIn("geglu/fused is 3.00 % slower since n3 (@org/team)", message["text"])
        self.settle()
        self.assertEqual(self.methods(), ["GET"])

    def test_takes_owners_of_the_history_where_no_gate_names_any(self):
        self.add("geglu/fused", 0.03, "confirmed")
        with contextlib.closing(sqlite3.connect(self.db)) as history, history:
            history.execute("INSERT INTO state VALUES ('owners', ?)", [json.dumps({"^geglu/": "@ann"})])
        self.assertIn("- owners: @ann\n", self.fusegate("notify", "--db", self.db, "--github", "org/kernels"))
        self.assertIn("- owners: @org/team\n", self.notify("--db", self.db, "--github", "org/kernels"))

    def test_a_change_back_closes_the_issue(self):
        self.add("geglu/fused", 0.03, "confirmed")
        self.settle()
        self.add("geglu/fused", -0.03, "confirmed", session="n9")
        self.settle()
        self.assertEqual([issue["state"] for issue in self.server.issues], ["closed"])
        [message] = self.posted()
        self.assertIn("geglu/fused is 3.00 % slower since n3: gone, it was taken back: -0.09 % is left of it", message["text"])
        self.settle()
        self.assertEqual(self.methods(), ["GET"])

    def test_triage_marks_an_alarm_and_counts_what_was_false(self):
        self.add("geglu/fused", 0.03, "confirmed")
        self.add("linear/addmm", 0.02, "confirmed")
        self.settle()
        ids = [finding["id"] for finding in self.posted()[0]["findings"]]
        self.assertEqual(self.fusegate("triage", ids[0], "true", "--db", self.db),
                         "marked true: linear/addmm, +2.00 % since n3\nof 1 alarm marked, 0 were false: 0.0 %\n")
        self.assertEqual(self.fusegate("triage", ids[1], "false", "--db", self.db, "--note", "the room was hot"),
                         "marked false: geglu/fused, +3.00 % since n3\nof 2 alarms marked, 1 was false: 50.0 %\n")
        self.settle()
        self.assertEqual({issue["title"]: issue["state"] for issue in self.server.issues},
                         {"linear/addmm is 2.00 % slower since n3": "open", "geglu/fused is 3.00 % slower since n3": "closed"})
        with contextlib.closing(sqlite3.connect(self.db)) as history:
            self.assertIn((f"triage/{ids[1]}/note", "the room was hot"), history.execute("SELECT key, value FROM state").fetchall())

    def test_says_what_is_wrong_with_a_history(self):
        missing = self.db.with_name("missing.db")
        for arguments, said in ((("triage", "104711041711", "true", "--db", missing), "missing.db: does not exist"),
                                (("notify", "--db", missing, "--webhook", "--send"), "missing.db: does not exist"),
                                (("notify", "--db", self.gate), "gate.json"),
                                (("triage", "104711041711", "true", "--db", self.db), "history.db: has no change 104711041711"),
                                (("triage", "104711041711", "maybe", "--db", self.db), "maybe")):
            with self.subTest(said=said):
                self.assertIn(said, self.fusegate(*arguments, code=2))
        self.assertFalse(missing.exists())


if __name__ == "__main__":
    unittest.main()

"""For the tests: pages as Chromium lays them out, at any width, in light or dark, on paper and without scripts. Talks to it over its debugging
pipe (https://chromedevtools.github.io/devtools-protocol), which takes no driver."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--headless", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--remote-debugging-pipe")
TIMEOUT_S = 120  # of an answer


def require_browser():
    """FUSEGATE_CHROMIUM, else the first on PATH. The test is skipped where there is none."""
    found = os.environ.get("FUSEGATE_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if not found:
        print(f"skipped: none of {', '.join(PROGRAMS)} on PATH; install one, or name it in FUSEGATE_CHROMIUM")
        sys.exit(SKIPPED)
    return found


class Browser:
    """With one page open; to be closed."""

    def __init__(self, program):
        self._session, self._calls = None, 0
        self._loads, self.problems = 0, []  # pages loaded; what scripts threw and what could not be loaded
        self._home = tempfile.TemporaryDirectory(prefix="fusegate-browser-", ignore_cleanup_errors=True)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        def move_pipes():  # where the browser looks for them
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self._process = subprocess.Popen(
            [program, *ARGUMENTS, f"--user-data-dir={self._home.name}"], pass_fds=(3, 4), preexec_fn=move_pipes,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in, self._read = ours_out, ours_in, b""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._home.cleanup()

    def show(self, page, width, height=900, scheme="light", media="screen", scripts=True):
        """page: its address. scheme: light or dark. media: screen or print."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._call("Emulation.setScriptExecutionDisabled", value=not scripts)
        loads = self._loads
        error = self._call("Page.navigate", url=page).get("errorText")
        if error:
            raise ValueError(f"{page}: {error}")
        while self._loads == loads:
            self._take_event(json.loads(self._next()))

    def ask(self, script):
        """What the expression comes to in the page."""
        done = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in done:
            raise ValueError(done["exceptionDetails"])
        return done["result"].get("value")

    def press(self, key):
        text = {"text": "\r"} if key == "Enter" else {}  # without it a button is not pressed
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text,
                       windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowDown": 40}[key])

    def write(self, text):
        self._call("Input.insertText", text=text)

    def point_at(self, x, y):
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def printed(self):
        """As PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def roles(self):
        """Of all that a screen reader gets."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if not node["ignored"]]

    def screenshot(self):
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def _take_event(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loads += 1
        elif method == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"])

    def _call(self, method, **parameters):
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._out, left):]
        while True:  # what is no answer are events
            answer = json.loads(self._next())
            if answer.get("id") == self._calls:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._take_event(answer)

    def _next(self):
        """The next message, which ends in a zero byte."""
        while b"\0" not in self._read:
            if not select.select([self._in], [], [], TIMEOUT_S)[0]:
                raise TimeoutError(f"the browser did not answer for {TIMEOUT_S} s")
            more = os.read(self._in, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self._read += more
        message, self._read = self._read.split(b"\0", 1)
        return message

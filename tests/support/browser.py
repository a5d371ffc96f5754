"""Drive a real Chromium without a window, by its own protocol over a pipe; no driver between."""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
# The browser reads commands from descriptor 3 and writes answers to 4.
_TRAMPOLINE = (
    "import os,sys; os.dup2(int(sys.argv[1]),3); os.dup2(int(sys.argv[2]),4); "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
    "--autoplay-policy=no-user-gesture-required", "--mute-audio",
)  # fmt: skip


def program() -> str | None:
    """Return the browser of this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@cache
def _axe() -> str:
    found = find_spec("axe_playwright_python")
    assert found is not None, "axe-core is missing: make test-browser"
    assert found.origin is not None
    return Path(found.origin).with_name("axe.min.js").read_text("utf-8")


class Browser:
    """One page of one browser; everything it complains of or asks for is kept."""

    def __init__(self, commands: int, answers: int, pid: int) -> None:
        self.pid = pid
        self._commands = commands
        self._answers = answers
        self._buffer = b""
        self._last = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": target, "flatten": True}
        self._session = self._send("Target.attachToTarget", attach)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol on the page."""
        return self._send(method, parameters, self._session)

    def go(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression on the page."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 30) -> None:
        """Wait until an expression holds."""
        until = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < until, f"never true: {expression}"
            time.sleep(0.05)

    def follow(self, act: Callable[[], object]) -> None:
        """Do what leaves the page, and wait for the next one."""
        self.evaluate("window.stays = true")
        act()
        self.wait_for("window.stays !== true && document.readyState === 'complete'")

    def click(self, selector: str) -> None:
        """Press the mouse on the middle of an element."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
            "return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                clickCount=1,
            )  # fmt: skip

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code, text="\r" if key == "Enter" else "",
            )  # fmt: skip

    def size(self, width: int, height: int) -> None:
        """Give the page a size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Prefer light or dark."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip

    def speak(self, languages: str) -> None:
        """Ask for pages in languages, the best first."""
        self.call("Network.setUserAgentOverride", acceptLanguage=languages,
                  userAgent=self.evaluate("navigator.userAgent"))  # fmt: skip

    def painted(self) -> None:
        """Wait until what the page is now has been painted, its pictures in sight with it."""
        self.wait_for(
            "[...document.images].every("
            "i => i.complete || i.getBoundingClientRect().top > innerHeight)"
        )
        self.evaluate(
            "Promise.all([...document.images].filter(i => i.complete && i.naturalWidth)"
            ".map(i => { i.decoding = 'sync'; return i.decode().catch(() => null) }))"
            ".then(() => new Promise(done => "
            "requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))"
        )

    def serious(self) -> list[str]:
        """Return what axe-core finds serious or worse on the page."""
        self.evaluate(f"{_axe()}\n;undefined")
        # A world of its own would do, too; the page's has no script that could mind.
        return list(
            self.evaluate(
                "axe.run().then(found => found.violations"
                ".filter(one => ['serious', 'critical'].includes(one.impact))"
                ".map(one => `${one.id}: ${one.nodes.map(n => n.html.slice(0, 120)).join(' | ')}`))"
            )
        )

    def picture(self, target: Path) -> Path:
        """Write what the page looks like, once it is painted."""
        self.painted()
        found = self.call("Page.captureScreenshot", format="png")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(base64.b64decode(found["data"]))
        return target

    def _send(
        self, method: str, parameters: dict[str, Any], session: str | None = None
    ) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._heard(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._answers, 1 << 20)
            assert chunk, "the browser went away"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _heard(self, event: dict[str, Any]) -> None:
        method, told = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Log.entryAdded" and told["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(told["args"]))


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """Start the browser with a profile of its own and end it afterwards."""
    name = program()
    assert name is not None
    from_us, to_us = os.pipe(), os.pipe()
    arguments = [sys.executable, "-c", _TRAMPOLINE, str(from_us[0]), str(to_us[1]), name]
    process = subprocess.Popen(
        [*arguments, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(from_us[0], to_us[1]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_us[0])
    os.close(to_us[1])
    try:
        yield Browser(from_us[1], to_us[0], process.pid)
    finally:
        os.close(from_us[1])
        os.close(to_us[0])
        process.terminate()
        process.wait(20)

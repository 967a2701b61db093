"""Headless Chromium, controlled by the DevTools protocol over a pipe, without other tools."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60.0
"""The time to wait for an answer of the browser."""


def program() -> str | None:
    """Return the path of the browser, or None if it is not installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """A browser with one page, which records the requests and errors of the page."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        from_us, self._out = os.pipe()
        self._in, to_us = os.pipe()
        found = program()
        assert found is not None

        def connect() -> None:
            # the browser reads from descriptor 3 and writes to 4
            low, high = os.dup(from_us), os.dup(to_us)
            os.dup2(low, 3)
            os.dup2(high, 4)

        options = [
            "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
            f"--user-data-dir={self._profile.name}",
        ]  # fmt: skip
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self._process = subprocess.Popen(
            [found, *options, "about:blank"],
            close_fds=False,
            preexec_fn=connect,  # noqa: PLW1509 (no threads here)
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        self._call("Performance.enable", timeDomain="threadTicks")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of this size, and wait until it is loaded."""
        self.requests.clear()
        self.complaints.clear()
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=path.resolve().as_uri())
        ready = "document.readyState === 'complete' && location.protocol === 'file:'"
        until = time.monotonic() + SECONDS
        while not self.run(ready):
            assert time.monotonic() < until, "the page did not load"
            time.sleep(0.02)

    def run(self, script: str) -> Any:  # noqa: ANN401 (whatever JSON can hold)
        """Return the value of a JavaScript expression."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        """Click at a point of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at one point and release at another."""
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        moves = [
            ("mousePressed", start),
            ("mouseMoved", middle),
            ("mouseMoved", end),
            ("mouseReleased", end),
        ]
        for kind, (x, y) in moves:
            self._call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                buttons=1,
                clickCount=1,
            )

    def press(self, key: str) -> None:
        """Press a key, such as "ArrowRight" or "Enter"."""
        codes = {
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "Enter": 13,
            "Escape": 27,
            "Home": 36,
            "End": 35,
        }
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key,
                windowsVirtualKeyCode=codes.get(key, 0), **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def busy(self) -> float:
        """Return the processor time of the page since it was opened, in seconds."""
        metrics = self._call("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    def picture(self, path: Path) -> None:
        """Write a screenshot of the window as PNG."""
        answer = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page to a PDF file."""
        path.write_bytes(
            base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])
        )

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, about = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(about["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(about["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], SECONDS)
            assert ready, "the browser does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

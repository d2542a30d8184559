"""A real browser, driven through its DevTools protocol: what a page shows, says and asks for."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from support.processes import started

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]
FLAGS += ["--enable-unsafe-swiftshader"]  # WebGL without a graphics card
_SECONDS = 60.0  # for one answer


def find_browser() -> str:
    """Return the path of chromium. Without it: a failure in CI, elsewhere a skip."""
    browser = shutil.which("chromium")
    if browser is None:
        missing = "the browser chromium is not installed (on Debian: apt-get install chromium)"
        # scripts/check.py sets the second where it could not install a browser, and says so in its last lines.
        if os.environ.get("CI", "").lower() in ("1", "true") and "ANCHORVIEW_NO_BROWSER" not in os.environ:
            pytest.fail(f"NOT TESTED: {missing}")
        pytest.skip(missing)
    return browser


class Tab:
    """One tab of the browser, and what happened in it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, socket: WebSocketClientConnection) -> None:
        self._loop, self._socket, self._number, self._session = loop, socket, 0, None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        return self._loop.run_until_complete(asyncio.wait_for(self._exchange(message), _SECONDS))

    async def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        await self._socket.write_message(json.dumps(message))
        while True:
            text = await self._socket.read_message()
            assert text is not None, "the browser has gone"
            answer: dict[str, Any] = json.loads(text)
            if answer.get("id") == message["id"]:
                assert "error" not in answer, (message["method"], answer["error"])
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, code: str) -> Any:
        """Return the value of an expression, or of its promise; an error in it fails the test."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, code: str, seconds: float = _SECONDS) -> Any:
        """Wait until an expression is true, and return its value."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(code)):
            assert time.monotonic() < end, f"never true: {code}"
            time.sleep(0.05)
        return value

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Make the window so large, and prefer light or dark pages."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[theme])

    def open(self, page: Path | str) -> None:
        """Open a file, or an address."""
        self.events.clear()
        self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.wait_for("document.readyState === 'complete'")

    def press(self, key: str, *, code: str = "", shift: bool = False) -> None:
        """Press a key: a letter, a digit, or one with a name such as "Backspace"."""
        code = code or (f"Digit{key}" if key.isdigit() else key)
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        about = {"key": key, "code": code, "modifiers": 8 if shift else 0}
        numbers = {"Enter": 13, "Backspace": 8, "Tab": 9, "Escape": 27}
        if key in numbers:
            about["windowsVirtualKeyCode"] = numbers[key]
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def drag(self, places: list[tuple[float, float]]) -> None:
        """Draw a line with the mouse button held."""
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=places[0][0], y=places[0][1], **button)
        for x, y in places[1:]:
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **button)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=places[-1][0], y=places[-1][1], **button)

    def move_mouse(self, x: float, y: float) -> None:
        """Point at a place of the window."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what is shown, or the whole page, as PNG."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    @property
    def complaints(self) -> list[str]:
        """What the page wrote to the console as a warning or an error, and errors that nobody caught.

        Messages of the graphics driver are left out: it complains of the screenshots.
        """
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"])[:500])
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(params["args"])[:500])
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"][:500])
        return [text for text in found if "GL Driver Message" not in text]

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for, but for data that it holds itself."""
        events = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [
            event["request"]["url"] for event in events if not event["request"]["url"].startswith(("data:", "blob:"))
        ]


@contextlib.contextmanager
def browser_tab(profile: Path) -> Iterator[Tab]:
    """Start chromium with a profile of its own, and end it with the block."""
    command = [find_browser(), *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    port = profile / "DevToolsActivePort"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    loop = asyncio.new_event_loop()
    with started(command, seconds=120, **silent) as process:
        end = time.monotonic() + _SECONDS
        while not (port.is_file() and port.read_text().count("\n")):
            assert process.poll() is None and time.monotonic() < end, "chromium did not start"
            time.sleep(0.05)
        number, path = port.read_text().split("\n")[:2]

        async def connect() -> WebSocketClientConnection:
            return await websocket_connect(f"ws://127.0.0.1:{number}{path}", max_message_size=200_000_000)

        try:
            yield Tab(loop, loop.run_until_complete(connect()))
        finally:
            loop.close()

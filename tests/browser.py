"""Chromium without a window, driven over a pipe by its DevTools protocol: no package is needed.

``with Browser() as browser: page = browser.open(path)``; then ``page.errors`` (of the console),
``page.requests`` (whatever is no file), ``page.evaluate(script)``, ``page.move(x, y)`` and
``page.press("Tab")`` are what tests ask. The fixture ``browser`` (conftest.py) is one for all tests
of a process, and skips them where there is no Chromium.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
TEXTS = {"Enter": "\r"}  # what keys write, but for those that are their own letter
SECONDS = 60  # for an answer: the machine may be busy


def find_chromium():
    """The path of a Chromium, or None."""
    given = os.environ.get("EIGENCUT_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One process of Chromium; pages are opened one after the other."""

    def __init__(self):
        self._ids = count(1)
        self._events = []
        self._rest = b""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4; some shells know <&9 but no <&10.
        command = f'exec "$@" 3</dev/fd/{theirs_in} 4>/dev/fd/{theirs_out}'
        arguments = [find_chromium(), *FLAGS, f"--user-data-dir={self._folder.name}"]
        self._process = subprocess.Popen(
            ["sh", "-c", command, "sh", *arguments],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        return self

    def __exit__(self, *error):
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def open(self, path, width=1440, height=900, dark=False):
        """A page of a file, when all of it is there."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        size = dict(width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        page.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        page.call("Page.navigate", url=Path(path).absolute().as_uri())
        self._wait_for(lambda event: event["method"] == "Page.loadEventFired", session)
        return page

    def call(self, method, session=None, **parameters):
        """The result of a command of the protocol."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self._events.append(found)

    def events(self, session):
        return [event for event in self._events if event.get("sessionId") == session]

    def _wait_for(self, is_it, session):
        while not any(map(is_it, self.events(session))):
            self._events.append(self._read())

    def _read(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self._from, 1 << 16) if ready else b""
            if not part:
                raise TimeoutError("Chromium did not answer")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


class Page:
    """A page that is open."""

    def __init__(self, browser, target, session):
        self._browser, self._target, self._session = browser, target, session

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def evaluate(self, script):
        """The value of an expression, which must be plain data."""
        how = dict(returnByValue=True, awaitPromise=True)
        found = self.call("Runtime.evaluate", expression=script, **how)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description"))
        return found["result"].get("value")

    def move(self, x, y):
        """Move the mouse to a place of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y, times=1):
        for number in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                how = dict(button="left", clickCount=number)
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **how)

    def press(self, key):
        """Press a key, by its name in ``KEYS`` or the letter that it writes."""
        text = TEXTS.get(key) or (key if len(key) == 1 else None)
        code = dict(key=key, windowsVirtualKeyCode=KEYS.get(key) or ord(key.upper()))
        if key in KEYS:
            code["code"] = key
        down = dict(type="keyDown", text=text) if text else dict(type="rawKeyDown")
        for kind in (down, dict(type="keyUp")):
            self.call("Input.dispatchKeyEvent", **kind, **code)

    def wheel(self, x, y, down):
        """Turn the wheel at a place of the window."""
        how = dict(type="mouseWheel", deltaX=0, deltaY=down)
        self.call("Input.dispatchMouseEvent", x=x, y=y, **how)

    def screenshot(self, path, whole=True):
        """Write what is to be seen to a PNG file."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def print_to_pdf(self):
        """The page as a PDF file."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    @property
    def errors(self):
        """What the console complains of: exceptions, errors and warnings."""
        self.evaluate("0")  # after which all that happened so far has been read
        found = []
        for event in self._browser.events(self._session):
            method, details = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(details["exceptionDetails"].get("text", "exception"))
            elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
                found.append(str(details["args"]))
            elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
        return found

    @property
    def requests(self):
        """Addresses that were asked for, but for files and data in the page."""
        self.evaluate("0")
        urls = [
            event["params"]["request"]["url"]
            for event in self._browser.events(self._session)
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith(("file:", "data:", "about:"))]

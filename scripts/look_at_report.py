"""Open report pages in headless Chromium without a network, use them, and take pictures.

    scripts/look_at_report.py --out FOLDER report.html ...

Fails where a page logs anything to its console, asks for anything but its own file, is wider than
the window, runs what a model said, or where filtering, opening a transcript or a link to the last
of them do not work. Wants
Chromium (`apt install chromium`) and nothing else: it speaks to it through a pipe.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
SIZES = {"desktop": (1280, 900), "phone": (390, 844), "print": (794, 1123)}
SCREENS = ("desktop", "phone")
SCHEMES = ("light", "dark")
SLOWEST = 2.0
READY = "document.querySelector('.count')?.textContent || ''"
WIDTH = "document.documentElement.scrollWidth"
HARMED = "'harmed' in window || document.querySelector('.list :is(script, img, b, h1)') !== null"
PLACES = {
    "top": "document.body",
    "run": "document.querySelector('[id$=-run]')",
    "results": "document.querySelector('[id$=-results]')",
    "figures": "document.querySelector('.figures')",
    "study": "document.querySelector('[id$=-study]')",
    "coverage": "document.querySelector('[id$=-coverage]')",
    "transcripts": "document.querySelector('.browser')",
    "opened": "document.querySelector('.list .part')",
    "last": "[...document.querySelectorAll('.list .part')].slice(-2)[0]",
}
GO = """(async (place) => {
  place.scrollIntoView();
  for (let frame = 0; frame < 3; frame++) await new Promise((d) => requestAnimationFrame(d));
})(%s)"""
CONTROLS = "document.querySelectorAll('.filters select, .filters input')"
FILTER = """(async (control) => {
  const values = { number: control.placeholder === 'from' ? '0' : '1', search: 'e' };
  control.value = values[control.type] ?? control.options[1].value;
  const chosen = control.value;
  const began = performance.now();
  control.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((done) => setTimeout(done, control.type === 'search' ? 200 : 0));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const took = performance.now() - began;
  const browser = control.closest('.browser');
  const found = browser.querySelector('.count').textContent;
  browser.querySelector('.clear').click();
  return [control.name, chosen, found, took];
})(%s[%d])"""
OPEN = """(async () => {
  const until = async (found) => {
    for (let tries = 0; !found() && tries < 500; tries++)
      await new Promise((done) => setTimeout(done, 10));
    return found();
  };
  const [first, second] = document.querySelectorAll('.list > details');
  const opened = second ?? first;  // a drill's first is no question
  opened.querySelector('summary').click();
  (await until(() => document.querySelector('.list .calls > summary'))).click();
  const call = await until(() => document.querySelector('.list .calls li'));
  return [opened.querySelectorAll('.part').length, opened.textContent.length, call.textContent];
})()"""


ADDRESS = """(async () => {  // of the last call of the last transcript in every browser
  const addresses = [];
  for (const browser of document.querySelectorAll('.browser')) {
    const data = JSON.parse(browser.querySelector("script[type='application/json']").textContent);
    const entry = data.entries.filter(({ steps }) => steps.some(({ calls }) => calls.length)).pop();
    const [name] = entry.steps.flatMap(({ calls }) => calls).pop();
    const place = [data.study, entry.cell, name].join('/');
    addresses.push('#' + place.split('/').map(encodeURIComponent).join('/'));
  }
  return addresses;
})()"""
FOLLOWED = """(async () => {
  location.hash = '%s';
  await new Promise((done) => setTimeout(done, 300));
  const target = document.getElementById(location.hash.slice(1));
  const box = target?.getBoundingClientRect();
  return Boolean(box && box.height && box.top >= 0 && box.bottom <= innerHeight);
})()"""


class Chromium:
    """A browser on the other end of a pipe; `events` is what it told unasked."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._session = ""
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self._in, self._out, self._rest = ours_in, ours_out, b""
        self._process = subprocess.Popen(
            [*_alone(), _program(), *FLAGS, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=lambda: _as_three_and_four(theirs_in, theirs_out),
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)

    def attach(self) -> None:
        """Take hold of a fresh tab."""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        found = self.do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")
        self.events.clear()

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """Give an order and wait for its answer."""
        number = next(self._numbers)
        order = {"id": number, "method": method, "params": params}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        while (message := self._next()).get("id") != number:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        found: dict[str, Any] = message["result"]
        return found

    def value(self, expression: str) -> Any:
        """Give what an expression comes to in the page."""
        found = self.do(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression[:60]}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has gone")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found


def _program() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    sys.exit("look_at_report: Chromium is not installed (apt install chromium)")


def _alone() -> list[str]:
    """Give the command that takes the network away, where that is allowed."""
    able = subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0
    return ["unshare", "-n"] if able else []


def _as_three_and_four(reading: int, writing: int) -> None:
    high = [os.dup(each) for each in (reading, writing)]
    os.dup2(high[0], 3)
    os.dup2(high[1], 4)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Run a browser."""
    browser = Chromium()
    try:
        yield browser
    finally:
        browser.close()


def look(browser: Chromium, page: Path, out: Path) -> list[str]:
    """Open and use one page, and give what is wrong with it."""
    browser.attach()
    browser.do("Network.emulateNetworkConditions", offline=True, latency=0,
               downloadThroughput=0, uploadThroughput=0)  # fmt: skip
    _dress(browser, "desktop", "light")
    wrong = _open(browser, page)
    if not browser.value(READY):
        return ["its browser of transcripts does not come up", *_heard(browser, page)]
    wrong += _use(browser)
    for size, scheme in itertools.product(SCREENS, SCHEMES):
        _dress(browser, size, scheme)
        over = browser.value(WIDTH) - SIZES[size][0]
        wrong += [f"{size}: {over} pixels wider than the window"] if over > 0 else []
        for place, there in PLACES.items():
            browser.value(GO % there)
            _picture(browser, out / f"{page.stem}-{size}-{scheme}-{place}.png")
    _print(browser, page, out)
    return wrong + _heard(browser, page)


def _dress(browser: Chromium, size: str, scheme: str) -> None:
    width, height = SIZES[size]
    browser.do("Emulation.setDeviceMetricsOverride", width=width, height=height,
               deviceScaleFactor=1, mobile=size == "phone")  # fmt: skip
    browser.do("Emulation.setEmulatedMedia",
               features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip


def _open(browser: Chromium, page: Path) -> list[str]:
    """Load it three times: on a busy machine the quickest says most."""
    times = [_loaded(browser, page) for _ in range(3)]
    size, took = f"{page.stat().st_size / 1e6:.2f} MB", min(times)
    shown = ", ".join(f"{one:.2f}" for one in times)
    print(f"{page}: {size}, ready in {shown} s: {browser.value(READY)}", flush=True)
    return [f"is not ready in {SLOWEST:g} s"] if took > SLOWEST else []


def _loaded(browser: Chromium, page: Path) -> float:
    browser.do("Page.navigate", url="about:blank")
    began = time.perf_counter()
    browser.do("Page.navigate", url=page.resolve().as_uri())
    while not browser.value(READY) and time.perf_counter() - began < 60:
        time.sleep(0.02)
    return time.perf_counter() - began


def _use(browser: Chromium) -> list[str]:
    wrong = []
    for place in range(browser.value(f"{CONTROLS}.length")):
        name, value, found, took = browser.value(FILTER % (CONTROLS, place))
        print(f"  {name} = {value}: {found} ({took:.0f} ms)")
        wrong += [f"filtering by {name} takes {took:.0f} ms"] if took > SLOWEST * 1000 else []
        wrong += [f"nothing is found for {name} = {value}"] if found.startswith("0 ") else []
    parts, letters, call = browser.value(OPEN)
    print(f"  opened: {parts} parts, {letters} characters; first call: {call}")
    wrong += [] if parts and letters else ["a transcript does not open"]
    for address in browser.value(ADDRESS):
        print(f"  link: {address}")
        wrong += [] if browser.value(FOLLOWED % address) else [f"{address} leads nowhere"]
    return wrong + (["a model's words did something"] if browser.value(HARMED) else [])


def _picture(browser: Chromium, path: Path) -> None:
    shot = browser.do("Page.captureScreenshot", format="png")
    path.write_bytes(base64.b64decode(shot["data"]))


def _print(browser: Chromium, page: Path, out: Path) -> None:
    """Show it as it is printed on A4."""
    _dress(browser, "print", "light")
    browser.do("Emulation.setEmulatedMedia", media="print")
    for place in ("top", "results", "figures", "opened"):
        browser.value(GO % PLACES[place])
        _picture(browser, out / f"{page.stem}-print-{place}.png")
    (out / f"{page.stem}.pdf").write_bytes(base64.b64decode(browser.do("Page.printToPDF")["data"]))


def _heard(browser: Chromium, page: Path) -> list[str]:
    """Give what the page said on its console, and what it asked for besides itself."""
    wrong = []
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            wrong.append(f"console: {json.dumps(params)[:300]}")
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            mine = (page.resolve().as_uri(), "about:blank")
            wrong += [f"asked for {url}"] if url not in mine else []
    return wrong


def main() -> None:
    """Look at every page that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wrong = []
    for page in options.pages:
        with chromium() as browser:
            wrong += [f"{page}: {what}" for what in look(browser, page, options.out)]
    print("\n".join(wrong) or "nothing is wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

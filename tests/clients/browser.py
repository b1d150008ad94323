"""A visitor with Chromium, watched from both ends: browser.py CHROMIUM URL LOG

What the browser fetched and complained about comes over the DevTools protocol, what the server answered from its
request log. Both have to tell the same.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import websocket

# Seconds: for the next event, for the whole visit, and without an event until a page counts as complete.
PATIENCE, PATIENCE_FOR_ALL, QUIET = 30, 120, 0.5

FLAGS = [
    "--headless",
    "--no-sandbox",  # root, as in most containers, cannot have one
    "--disable-dev-shm-usage",  # and there /dev/shm is small
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
]

LINK = "document.querySelector('nav a[href^=\"/\"]:not([aria-current])')"
ICONS = "[...document.querySelectorAll('link[rel~=icon]')].map(icon => new URL(icon.href).pathname)"
RENDERED = """
    [...document.styleSheets].every(sheet => sheet.cssRules.length) &&
    [...document.images].every(image => image.naturalWidth)
"""


def fail(text):
    sys.exit(f"FAILED: {text}")


def expect(holds, text):
    holds or fail(text)


@contextmanager
def browser(program):
    """A running Chromium with a profile of its own; gives the URL of its one tab."""
    profile = tempfile.mkdtemp()
    port_file, errors = Path(profile, "DevToolsActivePort"), Path(profile, "errors")
    with errors.open("w") as stderr:
        process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={profile}"], stderr=stderr)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (port_file.exists() and port_file.read_text().count("\n")):
            if process.poll() is not None or time.monotonic() > deadline:
                fail(f"{program} does not start:\n{errors.read_text()}")
            time.sleep(0.05)
        port = port_file.read_text().split()[0]
        with urlopen(Request(f"http://127.0.0.1:{port}/json/new", method="PUT"), timeout=PATIENCE) as tab:
            yield json.load(tab)["webSocketDebuggerUrl"]
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Tab:
    """A tab, and the events in it since they were last cleared."""

    def __init__(self, url):
        self.socket = websocket.create_connection(url, PATIENCE, suppress_origin=True)
        self.calls, self.events = 0, []
        for domain in "Page", "Network", "Runtime", "Log":
            self.call(f"{domain}.enable")

    def receive(self, patience=PATIENCE):
        self.socket.settimeout(patience)
        message = json.loads(self.socket.recv())
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message

    def call(self, method, **params):
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": params}))
        while (message := self.receive()).get("id") != self.calls:
            pass
        return message["result"] if "result" in message else fail(f"{method}: {message['error']['message']}")

    def evaluate(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def named(self, wanted):
        return [params for method, params in self.events if method == wanted]

    def shown(self):
        """Whether a page has appeared: loaded, or taken back from memory, which loads nothing."""
        restored = any(params["type"] == "BackForwardCacheRestore" for params in self.named("Page.frameNavigated"))
        return restored or self.named("Page.loadEventFired")

    def settle(self):
        try:
            while not self.shown():
                self.receive()
        except websocket.WebSocketTimeoutException:
            fail("no page appears")
        try:
            while True:
                self.receive(QUIET)
        except websocket.WebSocketTimeoutException:
            pass

    def complaints(self):
        for params in self.named("Network.loadingFailed"):
            yield f"{params['type']} failed: {params['errorText']} {params.get('blockedReason', '')}"
        for params in self.named("Log.entryAdded"):
            yield f"{params['entry']['level']}: {params['entry']['text']} {params['entry'].get('url', '')}"
        for params in self.named("Runtime.exceptionThrown"):
            yield f"exception: {params['exceptionDetails']['text']}"
        for params in self.named("Runtime.consoleAPICalled"):
            yield f"console: {[argument.get('value') for argument in params['args']]}"
        if not self.evaluate(RENDERED):
            yield "a style sheet or a picture is not there"

    def fetched(self):
        """Path and status of all that came over the network; what the browser had has no such event."""
        requests = self.named("Network.requestWillBeSent")
        paths = {params["requestId"]: urlsplit(params["request"]["url"]).path for params in requests}
        answers = self.named("Network.responseReceivedExtraInfo")
        return [(paths[params["requestId"]], params["statusCode"]) for params in answers]


class Visit:
    def __init__(self, tab, log):
        self.tab, self.log, self.seen, self.icons = tab, Path(log), 0, set()

    def step(self, name, act):
        """Takes a step and gives the server's lines about it, without icons: a browser fetches these when it likes."""
        self.tab.events.clear()
        act()
        self.tab.settle()
        complaints = list(self.tab.complaints())
        expect(not complaints, "\n".join([f"{name}: the browser complains", *complaints]))
        self.icons |= set(self.tab.evaluate(ICONS))
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        lines, self.seen = lines[self.seen :], len(lines)
        lines = [line for line in lines if line.get("event") == "request"]
        for line in lines:
            expect(line["status"] in (200, 304), f"{name}: {line['path']} is answered {line['status']}")
        lines = [line for line in lines if line["path"] not in self.icons]
        answered = sorted((line["path"], line["status"]) for line in lines)
        fetched = sorted((path, status) for path, status in self.tab.fetched() if path not in self.icons)
        expect(answered == fetched, f"{name}: the server says {answered}, the browser {fetched}")
        print(f"ok   {name}: {', '.join(f'{status} {path}' for path, status in answered) or 'no request'}")
        return lines

    def all(self, site):
        tab = self.tab
        first = self.step("first visit", lambda: tab.call("Page.navigate", url=f"{site}/"))
        paths = sorted(line["path"] for line in first)
        expect("/" in paths and len(paths) > 1, f"first visit: only {paths} asked for")
        expect(all(line["status"] == 200 for line in first), "first visit: not all is 200")

        soft = self.step("soft reload", lambda: tab.call("Page.reload"))
        expect([line["path"] for line in soft].count("/") == 1, "soft reload: the page is not asked for")
        expect(all(line["status"] == 304 for line in soft), "soft reload: not all is 304")

        hard = self.step("hard reload", lambda: tab.call("Page.reload", ignoreCache=True))
        expect(sorted(line["path"] for line in hard) == paths, "hard reload: not all is asked for")
        expect(all(line["status"] == 200 and line["bytes"] for line in hard), "hard reload: not all is 200 with bytes")

        target = tab.evaluate(f"{LINK}.pathname")
        link = self.step("link", lambda: tab.evaluate(f"{LINK}.click()"))
        expect(tab.evaluate("location.pathname") == target, f"link: it does not lead to {target}")
        again = {line["path"] for line in link} & set(paths)
        expect(not again, f"link: {again} asked for again")

        back = self.step("back", lambda: tab.evaluate("history.back()"))
        expect(tab.evaluate("location.pathname") == "/", "back: it does not lead to the first page")
        expect(all(line["status"] == 304 for line in back), "back: not all is 304")


def main(program, site, log):
    signal.signal(signal.SIGALRM, lambda *_: fail(f"not done after {PATIENCE_FOR_ALL} s"))
    signal.alarm(PATIENCE_FOR_ALL)
    with browser(program) as url:
        Visit(Tab(url), log).all(site)


if __name__ == "__main__":
    main(*sys.argv[1:])

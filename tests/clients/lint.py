"""What httplint and redbot think of a site's answers: lint.py URL

httplint judges one answer, as the bytes that came. redbot asks for the same and then, where it makes sense, for it
compressed, for a part of it and whether it has changed, and judges how these answers fit together. What they call BAD
or WARN is a finding, and so is a subject that is not answered as meant.
"""

import re
import socket
import sys
import time
from configparser import ConfigParser
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import thor
from httplint import HttpRequestLinter, HttpResponseLinter, levels
from redbot.resource import HttpResource

# Findings that are wrong or do not apply here: the name of the note, and why. One that does not occur has to go.
EXCEPTIONS = {
    "STORE_PUBLIC_UNNECESSARY": "assets and links are the same for everyone: caches may keep them even if the request had a password",
}

# Seconds for one answer, and for all that redbot asks.
PATIENCE, PATIENCE_FOR_ALL = 10, 60


@dataclass
class Subject:
    name: str
    path: str
    status: int
    request: dict[str, str] = field(default_factory=dict)
    # A field that the answer must have, to be the one that is meant.
    response: tuple[str, str] | None = None
    # What redbot must have seen to work: it says nothing about what it did not try.
    supports: tuple[str, ...] = ()


def subjects_of(site):
    home = exchange(site, "/", {}).decode(errors="replace")
    etag = re.search(r"^etag: *(.*)\r$", home, re.IGNORECASE | re.MULTILINE)
    asset = re.search(r'"(/[^"]*\.[0-9a-f]{8,}\.css)"', home)
    if not (etag and asset):
        sys.exit("FAILED: the home page has no ETag, or names no fingerprinted asset")
    return [
        Subject("page", "/", 200, supports=("inm", "partial", "gzip")),
        *(
            Subject(f"page in {coding}", "/", 200, {"Accept-Encoding": coding}, ("content-encoding", coding), ("inm",))
            for coding in ("br", "gzip", "zstd")
        ),
        Subject("image", "/favicon.ico", 200, supports=("inm", "partial")),
        Subject("fingerprinted asset", asset[1], 200, supports=("inm", "partial", "gzip")),
        # Without the coding redbot would ask for gzip under the tag of the page as it is, and wonder about a 200.
        Subject("unchanged page", "/", 304, {"If-None-Match": etag[1], "Accept-Encoding": "identity"}),
        Subject("part of a page", "/", 206, {"Range": "bytes=0-99"}, ("content-length", "100")),
        Subject("unknown path", "/nowhere", 404, supports=("gzip",)),
        Subject("canonical redirect", "/about", 308, response=("location", "/about/")),
        Subject("short link", "/gh", 302, response=("location", "https://github.com/")),
    ]


def exchange(site, path, fields):
    """All bytes that come until the server closes."""
    address = urlsplit(site)
    fields = {"Host": address.netloc, "User-Agent": "httplint", "Connection": "close", **fields}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    with socket.create_connection((address.hostname, address.port), PATIENCE) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def httplint(site, subject):
    """One answer, judged. All behind the head is its content, so that too much is seen as well as too little."""
    now = time.time()
    head, _, content = exchange(site, subject.path, subject.request).partition(b"\r\n\r\n")
    status_line, *lines = head.split(b"\r\n")
    version, status, phrase = (status_line + b"  ").split(b" ", 2)
    fields = (line.partition(b":") for line in lines)
    request, response = HttpRequestLinter(), HttpResponseLinter(start_time=now)
    request.process_request_topline(b"GET", subject.path.encode(), b"1.1")
    request.process_headers([(name.encode(), value.encode()) for name, value in subject.request.items()])
    response.request = request
    response.process_response_topline(version.removeprefix(b"HTTP/"), status, phrase.strip())
    response.process_headers([(name, value.strip(b" \t")) for name, _, value in fields])
    response.feed_content(content)
    response.finish_content(True)
    return response


def redbot(site, subjects):
    """A checked resource for each subject."""
    config = ConfigParser()
    config["redbot"] = {"enable_local_access": "True"}
    resources = [HttpResource(config["redbot"]) for _ in subjects]

    def stop_after_the_last():
        if all(resource.check_done for resource in resources):
            thor.stop()

    for subject, resource in zip(subjects, resources):
        resource.on("check_done", stop_after_the_last)
        resource.set_request(site + subject.path, headers=list(subject.request.items()))
        resource.check()
    thor.schedule(PATIENCE_FOR_ALL, thor.stop)
    thor.run()
    return resources


def checks_of(resource):
    return [check for check in resource.subreqs.values() if check.fetch_started]


def fields_of(response):
    return {name.lower(): value.strip() for name, value in response.headers.text}


def with_subnotes(notes):
    for note in notes:
        yield note
        yield from with_subnotes(note.subnotes)


def findings_of(subject, linter, resource):
    """Pairs of name and text, each once however many answers have it."""
    for tool, response in ("httplint", linter), ("redbot", resource.response):
        if response.status_code != subject.status:
            yield "STATUS", f"{tool} is answered {response.status_code}, not {subject.status}"
        if subject.response and subject.response not in fields_of(response).items():
            yield "FIELD", f"{tool} is answered without {': '.join(subject.response)}"
    for fetch in resource, *checks_of(resource):
        if fetch.fetch_error or not fetch.check_done:
            yield "FETCH", f"redbot {fetch.check_id}: {fetch.fetch_error.desc if fetch.fetch_error else 'no end'}"
    for check in subject.supports:
        if not getattr(resource, f"{check}_support"):
            yield "SUPPORT", f"redbot has not seen {check} work"
    for response in linter, *(fetch.response for fetch in (resource, *checks_of(resource))):
        for note in with_subnotes(response.notes):
            if note.level in (levels.BAD, levels.WARN):
                yield type(note).__name__, f"{note.level.name} {note.summary}"


def main(site):
    subjects = subjects_of(site)
    bad, occurred = 0, set()
    for subject, resource in zip(subjects, redbot(site, subjects)):
        findings = dict.fromkeys(findings_of(subject, httplint(site, subject), resource))
        occurred |= {name for name, _ in findings}
        findings = [(name, text) for name, text in findings if name not in EXCEPTIONS]
        checks = "".join(f", {check.check_id}" for check in checks_of(resource))
        print("BAD " if findings else "ok  ", f"{subject.status} {subject.name}: httplint, redbot{checks}")
        for name, text in findings:
            print(f"       {text} [{name}]")
        bad += len(findings)
    for name in EXCEPTIONS.keys() - occurred:
        print(f"BAD  the exception {name} does not occur: take it out")
        bad += 1
    sys.exit(f"FAILED: {bad} findings" if bad else 0)


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))

"""A language server that reports every line with ``BAD``, with the faults that its arguments name.

Its warning about each line with ``WARN`` and what it sends about other files are to be ignored. ``--log FILE`` appends
its process and the methods that it received.
"""

import json
import os
import sys
import time
from pathlib import Path

FAULTS = set(sys.argv[1:])
LOG = Path(sys.argv[-1]) if "--log" in FAULTS else None
OUT = sys.stdout.buffer


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    OUT.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body))
    OUT.write(body)
    OUT.flush()


def receive():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def diagnostics(text):
    def found(line, severity):
        at = {"line": line, "character": 0}
        return {"range": {"start": at, "end": at}, "severity": severity, "code": "E1", "message": "a bad line"}

    lines = text.split("\n")
    bad = [found(number, 1) for number, line in enumerate(lines) if "BAD" in line]
    return [*bad, *(found(number, 2) for number, line in enumerate(lines) if "WARN" in line)]


def publish(document, text):
    uri, version = document["uri"], document.get("version")
    if "garbage" in FAULTS:
        OUT.write(b"Hello, this is not a protocol.\r\n\r\n" * 3)
        OUT.flush()
    if "nonsense" in FAULTS:
        items = [None, 7, {"message": 3}, {"range": {"start": {"line": "x"}}, "message": "no"}, *diagnostics(text)]
        send(method="textDocument/publishDiagnostics", params=[])
        send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": items})
        return
    if "huge" in FAULTS:
        OUT.write(b"Content-Length: 999999999\r\n\r\n")
        OUT.flush()
    if "crash" in FAULTS:
        raise SystemExit(3)
    while "flood" in FAULTS:
        send(method="window/logMessage", params={"type": 3, "message": "x"})
    if "stale" in FAULTS:
        send(method="textDocument/publishDiagnostics", params={"uri": uri, "version": version - 1, "diagnostics": [{}]})
    send(method="textDocument/publishDiagnostics", params={"uri": "file:///other", "diagnostics": diagnostics("BAD")})
    if "parts" in FAULTS:
        send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": []})
    if "hang" not in FAULTS or "HANG" not in text:
        about = {} if "parts" in FAULTS else {"version": version}
        send(method="textDocument/publishDiagnostics", params={"uri": uri, **about, "diagnostics": diagnostics(text)})


def start(number):
    while "never-ready" in FAULTS:
        time.sleep(1)
    if "refuse" in FAULTS:
        send(id=number, error={"code": -1, "message": "no such folder"})
        return
    send(id=1, method="workspace/configuration", params={"items": [{}, {}]})
    send(id="two", method="no/suchMethod", params={})
    pulls = {"diagnosticProvider": {}} if "pull" in FAULTS else {}
    send(id=number, result={"capabilities": {"textDocumentSync": {"save": True}, **pulls}})


def change(params, texts):
    document = params["textDocument"]
    text = document["text"] if "text" in document else params["contentChanges"][-1]["text"]
    texts[document["uri"]] = text
    if "pull" not in FAULTS:
        publish(document, text)


def main():
    if LOG is not None:
        LOG.write_text(f"{os.getpid()}\n")
    if "noise" in FAULTS:
        OUT.write(b"Starting the server\nwith noise\n")
        OUT.flush()
    texts = {}
    while (message := receive()) is not None and message.get("method") != "exit":
        method, params = message.get("method"), message.get("params")
        if LOG is not None and method is not None:
            with LOG.open("a") as file:
                file.write(f"{method}\n")
        if method == "initialize":
            start(message["id"])
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            change(params, texts)
        elif method == "textDocument/diagnostic":
            items = diagnostics(texts[params["textDocument"]["uri"]])
            send(id=message["id"], result={"kind": "full", "items": items})
        elif method == "shutdown":
            send(id=message["id"], result=None)


if __name__ == "__main__":
    main()

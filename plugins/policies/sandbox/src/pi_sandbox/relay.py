"""Runs inside an empty network: forwards a port of its loopback interface to a Unix socket, then runs the program.

``python -I -S relay.py SOCKET PORT PROGRAM ARGUMENT...``; the standard library alone. It ends with the namespace.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress

__all__: list[str] = []


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _pass_on(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as proxy:
        proxy.connect(path)
        back = threading.Thread(target=_copy, args=(proxy, client), daemon=True)
        back.start()
        _copy(client, proxy)
        back.join()


def main(path: str, port: str, argv: list[str]) -> None:
    """Listen, fork, and become the program."""
    server = socket.create_server(("127.0.0.1", int(port)), backlog=128)
    if os.fork():
        server.close()
        os.execve(argv[0], argv, os.environ)  # noqa: S606 - the program that was asked for
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    while True:
        client, _ = server.accept()
        threading.Thread(target=_pass_on, args=(client, path), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

"""``pi`` as the shell blocks of pages run it: where it asks for a terminal, it gets one at which ``/quit`` is typed.

``PAGE_WORDS`` (``word=value`` lines) replaces words that stand for a reader's own, such as the id of a session.
"""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

TYPED = b"\r/quit\n\x04\x04"  # Enter chooses from a list, if there is one
NO_TERMINAL = b"there is no terminal to ask for one"


def main() -> int:
    words = dict(line.split("=", 1) for line in os.environ.get("PAGE_WORDS", "").splitlines() if line)
    command = [os.environ["REAL_PI"], *(words.get(each, each) for each in sys.argv[1:])]
    if not os.path.samestat(os.fstat(0), Path(os.devnull).stat()):
        return subprocess.run(command, check=False).returncode
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    if NO_TERMINAL in done.stderr:
        return at_a_terminal(command)
    os.write(2, done.stderr)
    return done.returncode


def at_a_terminal(command: list[str]) -> int:
    terminal, of_pi = pty.openpty()
    with subprocess.Popen(
        command, stdin=of_pi, stdout=of_pi, stderr=of_pi, env={**os.environ, "TERM": "xterm"}, start_new_session=True
    ) as process:
        os.close(of_pi)
        os.write(terminal, TYPED)
        with contextlib.suppress(OSError):  # the end, as Linux reports it
            while os.read(terminal, 65536):
                pass
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())

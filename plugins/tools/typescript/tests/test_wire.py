"""The lines between pi and the process of extensions, however the pipe cuts them."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

import pi_typescript

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")]

MAIN = Path(pi_typescript.__file__).parent / "host" / "main.js"
START = ["/bin/sh", "-c", 'exec "$@" 3>&1 4<&0 1>&2 0</dev/null', "sh", "node", "--no-warnings", str(MAIN)]
ECHO = 'export default (pi) => pi.on("tool_call", (event) => ({ block: true, reason: event.input.text }));'
TEXTS = ["one", "", "two\u2028\nlines\r", " ", "ünï 🌊 " * 100_000, "{}", "   "]


@pytest.mark.parametrize("seed", range(6))
def test_every_request_is_answered_wherever_its_line_is_cut_and_whatever_wakes_the_process(tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311 - where lines are cut is no secret
    start, *requests = _lines(tmp_path)

    with subprocess.Popen(START, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        received = (json.loads(line) for line in process.stdout)
        process.stdin.write(start)
        assert next(received)["type"] == "ready"
        spaced = b"".join(b" " * chance.randrange(3) + each for each in requests)
        writing = Thread(target=lambda: [process.stdin.write(each) for each in _pieces(spaced, chance)])
        writing.start()
        answers = [next(received) for _ in requests]
        writing.join()
        process.stdin.close()

    assert [each["answer"]["reason"] for each in sorted(answers, key=lambda each: each["id"])] == TEXTS
    assert process.returncode == 0


def _lines(folder: Path) -> list[bytes]:
    """Return the start of a process with an extension, and a request for each text, as lines."""
    file = folder / "echo.mjs"
    file.write_text(ECHO)
    start = {"type": "start", "plugins": [{"name": "echo", "file": str(file)}], "agentDir": str(folder)}
    request = {"type": "hook", "hook": "tool_call", "plugin": "echo", "ctx": "s1"}
    call = {"type": "tool_call", "toolCallId": "c", "toolName": "bash"}
    requests = [
        {**request, "id": number, "event": {**call, "input": {"text": text}}} for number, text in enumerate(TEXTS)
    ]
    return [json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in (start, *requests)]


def _pieces(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Yield the data in a few pieces, some of which arrive alone: cut near the ends of lines, and around a space."""
    ends = [at for at, byte in enumerate(data) if byte == ord("\n")]
    near = [each + chance.randrange(-1, 4) for each in ends[:-1]]
    space = data.index(b'" "') + 1
    cuts = sorted({0, space, space + 1, *near, *(chance.randrange(len(data)) for _ in range(20)), len(data)})
    for start, end in pairwise(cuts):
        time.sleep(0.01 if end - start == 1 else chance.choice((0, 0.003)))
        yield data[start:end]
        time.sleep(0.01 if end - start == 1 else 0)

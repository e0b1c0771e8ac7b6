"""The loop of a model's process: reads requests, answers each in a thread of its own."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from pi_hookspecs.errors import PiError
from pi_provider_llamacpp.engine.model import LoadedModel


class Answers:
    """Writes lines, and knows which requests were cancelled.

    Args:
        output: Descriptor of the pipe to pi.
    """

    def __init__(self, output: int) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._cancelled: set[int] = set()

    def say(self, line: dict[str, Any]) -> None:
        """Write a line; ends the process if the reader is gone."""
        data = memoryview(json.dumps(line).encode() + b"\n")
        try:
            with self._lock:
                while data:
                    data = data[os.write(self._output, data) :]
        except OSError:
            os._exit(1)

    def cancel(self, number: int) -> None:
        """Let the answer to a request end."""
        self._cancelled.add(number)

    def answer(self, model: LoadedModel, number: int, payload: dict[str, Any]) -> None:
        """Answer a request; whatever goes wrong is in the answer."""

        def emit(chunk: dict[str, Any]) -> bool:
            self.say({"id": number, "chunk": chunk})
            return number in self._cancelled

        try:
            model.answer(payload, emit)
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            emit({"error": {"message": f"{type(error).__name__}: {error}"}})
        self._cancelled.discard(number)
        self.say({"id": number, "end": True})


def main() -> int:
    """Load the model that the first line names, and answer until there are no more lines."""
    output = os.dup(1)
    os.dup2(2, 1)  # whatever llama.cpp prints is not an answer
    answers = Answers(output)
    try:
        model = LoadedModel(**json.loads(sys.stdin.buffer.readline())["load"])
    except PiError as error:
        answers.say({"failed": str(error)})
        return 1
    answers.say({"ready": {}})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "cancel" in request:
            answers.cancel(request["cancel"])
        else:
            given = (model, request["ask"], request["payload"])
            threading.Thread(target=answers.answer, args=given, daemon=True).start()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the engine's threads are in the midst of their work

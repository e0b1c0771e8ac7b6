"""Output without a front end, on streams that have no more than a front end's stream has."""

from __future__ import annotations

from pi_cli.report import print_lines, warn


class Stream:
    """As the full screen's: it has no ``writelines``."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing is buffered."""

    def isatty(self):
        return False


def test_a_warning_needs_no_more_of_a_stream_than_write(monkeypatch):
    stream = Stream()
    monkeypatch.setattr("sys.stderr", stream)

    warn("a task failed")

    assert stream.text == "Warning: a task failed\n"


def test_lines_need_no_more_of_a_stream_than_write(monkeypatch):
    stream = Stream()
    monkeypatch.setattr("sys.stdout", stream)

    print_lines("one", "two")

    assert stream.text == "one\ntwo\n"

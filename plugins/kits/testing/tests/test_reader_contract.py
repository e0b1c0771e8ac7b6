"""The contract of readers itself: the example of the README passes, and a reader with a fault fails the row for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_testing.reader_contract import changed, paths_in

pytestmark = pytest.mark.slow  # each starts programs that take seconds

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"^# test_my_reader.py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)[1]

LOSES_BYTES = """
class LosesBytes(SseDecoder):
    def feed(self, chunk):
        return super().feed(chunk.rstrip(b" "))


class TestMine(TestMyReader):
    decoder = LosesBytes
"""


def run(pytester, test, rows="test"):
    pytester.makepyfile(test_my_reader=test)
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_subprocess(*options, "-k", rows)


def test_the_example_passes(pytester):
    assert run(pytester, EXAMPLE).parseoutcomes() == {"passed": 6}


@pytest.mark.parametrize(
    ("right", "wrong", "row", "message"),
    [
        ("if not self.finished:", "if False:", "ends_early", "ended at byte"),
        ("            self.started = True\n", "", "whole_answer", "start came again"),
        ('            case {"text": str(text)}:', '            case {"text": text}:', "any_value", "Error"),
        (', {"end": True}]', "]", "whole_answer", "events need a call, and an end"),
    ],
)
def test_a_reader_with_a_fault_fails_the_row_for_it(pytester, right, wrong, row, message):
    assert right in EXAMPLE
    result = run(pytester, EXAMPLE.replace(right, wrong), row)

    assert any(row in line for line in result.outlines if line.startswith("FAILED")), result.outlines
    assert message in result.stdout.str()


def test_a_decoder_that_loses_a_byte_at_a_cut_is_found(pytester):
    result = run(pytester, EXAMPLE + LOSES_BYTES, "TestMine and any_byte")

    assert any("TestMine::test_a_cut_at_any_byte" in line for line in result.outlines if line.startswith("FAILED"))


def test_a_changed_copy_has_the_value_and_leaves_the_original():
    data = [{"a": ({"b": 1}, 2)}]

    assert (0, "a", 0, "b") in paths_in(data)
    assert changed(data, (0, "a", 0, "b"), 5) == [{"a": [{"b": 5}, 2]}]
    assert data == [{"a": ({"b": 1}, 2)}]

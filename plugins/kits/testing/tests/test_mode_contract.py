"""The contract suite of front ends: each way in which one can be wrong fails a row of its own."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PLUGIN = """
import os
import sys
from contextlib import redirect_stdout

from pi_core.plugin_api.context import NoUserInterface
from pi_hookspecs import Mode, hookimpl


class Agreeable(NoUserInterface):
    async def confirm(self, title, message="", **how):
        return True


def make(name, *, says=True, code=1, tells=True, clean=True, agrees=False, leaves=False):
    async def run(session, options):
        out, failed = sys.stdout, 0
        session.subscribe(lambda event: tells and print(event.error, file=sys.stderr), "extension_error")
        session.ui = Agreeable(lambda *_: None) if agrees else session.ui
        with redirect_stdout(sys.stderr if clean else out):
            async with session:
                for prompt in options.prompts:
                    answer = await session.prompt(prompt.text)
                    if says:
                        print(answer.text, answer.error_message or "", file=out, flush=True)
                    failed = code if answer.stop_reason == "error" else 0
                if leaves:
                    os._exit(0)
        return failed

    return Mode(name, run=run)


@hookimpl
def register_modes():
    return [
        make("well"),
        make("silent", says=False),
        make("zero", code=0),
        make("mute", tells=False),
        make("unclean", clean=False),
        make("agreeable", agrees=True),
        make("leaves", leaves=True),
    ]
"""
KIND = """
class Test_{0}(ModeContract):
    mode = "{0}"
    extensions = [Path(__file__).with_name("modes.py")]
"""
BROKEN = {
    "silent": "test_an_answer_is_printed_and_the_session_ended",
    "zero": "test_a_failed_answer_is_reported",
    "mute": "test_a_failing_plugin_is_reported_by_name_and_costs_no_answer",
    "unclean": "test_what_a_plugin_prints_is_not_on_stdout",
    "agreeable": "test_a_dialog_of_a_plugin_is_answered_or_declined",
    "leaves": "test_an_answer_is_printed_and_the_session_ended",
}


def test_each_thing_that_is_wrong_with_a_front_end_fails_its_row(pytester, failing_rows):
    pytester.makepyfile(modes=PLUGIN)
    kinds = [*BROKEN, "well"]
    text = "from pathlib import Path\nfrom pi_testing import ModeContract\n" + "".join(map(KIND.format, kinds))
    rows = [f"test_mine.py::Test_{name}::{row}" for name, row in BROKEN.items()]
    well = [f"test_mine.py::Test_well::{row}" for row in {*BROKEN.values()}]
    failed, _ = failing_rows(text, *rows, *well)

    assert failed == {f"Test_{name}": {row} for name, row in BROKEN.items()}


def test_a_subclass_has_to_define_what_it_claims(failing_rows):
    claim = "    mode = 'print'\n    supports = {'telepathy'}\n"
    text = f"from pi_testing import ModeContract\n\nclass TestMine(ModeContract):\n{claim}"
    _, result = failing_rows(text, "-k", "dialog_of")
    result.stdout.fnmatch_lines("*supports has ?'telepathy'?, which no test knows*")

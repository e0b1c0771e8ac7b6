"""``Exporter`` alone: where the file is written."""

from __future__ import annotations

import json

import pytest

from pi_core.conversation.exporter import Exporter
from pi_core.conversation.message_queue import user_message
from pi_hookspecs import UserError


async def test_a_relative_path_is_below_the_working_directory(runtime, answer, tmp_path):
    for each in (user_message("hi"), answer("Hello")):
        runtime.manager.append_message(each)
    await Exporter(runtime).export_jsonl("branch.jsonl")
    lines = (tmp_path / "branch.jsonl").read_text().splitlines()

    assert [json.loads(line)["type"] for line in lines] == ["session", "message", "message"]


async def test_the_format_is_the_callers_whatever_the_name(runtime, answer, tmp_path):
    for each in (user_message("hi"), answer("Hello")):
        runtime.manager.append_message(each)
    await Exporter(runtime).export_jsonl("branch.txt")

    assert json.loads((tmp_path / "branch.txt").read_text().splitlines()[0])["type"] == "session"


async def test_a_format_that_no_plugin_writes_leaves_no_file(runtime, answer, tmp_path):
    runtime.manager.append_message(user_message("hi"))
    with pytest.raises(UserError):
        await Exporter(runtime).export("page.html")

    assert list(tmp_path.iterdir()) == []

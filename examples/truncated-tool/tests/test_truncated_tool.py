"""Long output is cut, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_testing import text, tool_call


async def test_long_output_is_cut_and_kept_in_a_file(pi_session, script, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "big.txt").write_text("".join(f"line {number}\n" for number in range(3000)))
    script.turn(tool_call("search_all", pattern="^line", path="big.txt")).turn(text("Many."))

    await pi_session.prompt("search")

    (result,) = script.requests[1].tool_results
    whole = Path(result.details["fullOutputPath"])
    assert result.text.endswith(f"line 1999\n\n[2000 of 3000 lines. All of them: {whole}]")
    assert len(whole.read_text().splitlines()) == 3000


@pytest.mark.parametrize(("pattern", "message"), [("two", "a.txt:2:two\n"), ("three", "No matches")])
async def test_short_output_is_printed_unchanged(pattern, message, pi_session, script, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    script.turn(tool_call("search_all", pattern=pattern, path="a.txt")).turn(text("Fine."))

    await pi_session.prompt("search")

    assert script.requests[1].tool_results[0].text.endswith(message)


async def test_a_failure_of_grep_is_reported(pi_session, script):
    script.turn(tool_call("search_all", pattern="(")).turn(text("Oh."))

    await pi_session.prompt("search")

    assert script.requests[1].tool_results[0].text.startswith("grep failed:")

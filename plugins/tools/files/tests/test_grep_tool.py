"""``grep``: the lines it shows and what it says about the others."""

from __future__ import annotations

import asyncio
import errno
import os

import pytest

from pi_hookspecs import AbortController


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("import os\nneedle = 1\nend\n")
    (tmp_path / "src/b.txt").write_text("Needle\n")
    (tmp_path / ".hidden").write_text("needle\n")
    return tmp_path


async def test_lines_are_shown_with_path_and_number_sorted_by_path(text, tree):
    assert await text("grep", pattern="needle") == ".hidden:1: needle\nsrc/a.py:2: needle = 1"
    assert await text("grep", pattern="needle", path="src", ignoreCase=True) == "a.py:2: needle = 1\nb.txt:1: Needle"


async def test_of_one_file_the_base_name_is_printed(text, tree):
    assert await text("grep", pattern="^end", path="src/a.py") == "a.py:3: end"


async def test_context_comes_in_blocks_and_counts_the_line_after_the_last_newline(text, tmp_path):
    (tmp_path / "f").write_text("a\nx1\nx2\nb\n")

    assert await text("grep", pattern="x", context=1) == "f-1- a\nf:2: x1\nf-3- x2\nf-2- x1\nf:3: x2\nf-4- b"
    assert await text("grep", pattern="b", context=2) == "f-2- x1\nf-3- x2\nf:4: b\nf-5- "


async def test_glob_literal_and_slashes(text, tree):
    assert await text("grep", pattern="needle", glob="*.py") == "src/a.py:2: needle = 1"
    assert await text("grep", pattern="needle", glob="src/*", path="src") == "a.py:2: needle = 1"
    assert await text("grep", pattern="e = 1", literal=True) == "src/a.py:2: needle = 1"
    assert await text("grep", pattern="n.edle(", literal=True) == "No matches found"


@pytest.mark.parametrize("pattern", ["-v", "--files", "-e x"])
async def test_a_pattern_is_never_an_option(text, tree, pattern):
    (tree / "a").write_text(f"{pattern}\n")

    assert await text("grep", pattern=pattern) == f"a:1: {pattern}"


async def test_ignored_files_are_not_searched_in_a_repository(text, tree):
    (tree / ".gitignore").write_text("*.py\n")
    assert "src/a.py" in await text("grep", pattern="needle")

    (tree / ".git").mkdir()
    assert await text("grep", pattern="needle") == ".hidden:1: needle"
    assert await text("grep", pattern="needle", glob="*.py") == "src/a.py:2: needle = 1"


async def test_the_users_configuration_does_not_count(text, tree, monkeypatch):
    (tree / "rc").write_text("--ignore-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tree / "rc"))

    assert "b.txt" not in await text("grep", pattern="needle")


async def test_at_the_limit_the_notice_appears(call, tmp_path):
    (tmp_path / "a").write_text("x\n" * 5)

    result = await call("grep", pattern="x", limit=5)

    assert result.content[0].text.endswith(
        "a:5: x\n\n[5 matches limit reached. Use limit=10 for more, or refine pattern]"
    )
    assert result.details == {"matchLimitReached": 5}
    assert (await call("grep", pattern="x", limit=6)).details is None
    assert (await call("grep", pattern="x", limit=0)).details == {"matchLimitReached": 1}


async def test_the_last_match_keeps_its_context(text, tmp_path):
    (tmp_path / "a").write_text("x1\nx2\nx3\nx4\n")

    assert (await text("grep", pattern="x", limit=1, context=2)).startswith("a:1: x1\na-2- x2\na-3- x3\n\n[")


async def test_long_lines_are_cut(call, tmp_path):
    (tmp_path / "a").write_text("x" * 600 + "\n" + "x" * 499 + "😀\n")

    result = await call("grep", pattern="x")

    first, second, _, notice = result.content[0].text.split("\n")
    assert first == "a:1: " + "x" * 500 + "... [truncated]"
    assert second == "a:2: " + "x" * 499 + "... [truncated]"
    assert notice == "[Some lines truncated to 500 chars. Use read tool to see full lines]"
    assert result.details == {"linesTruncated": True}


async def test_all_notices_together(call, tmp_path):
    (tmp_path / "a").write_text(("x" * 600 + "\n") * 200)

    result = await call("grep", pattern="x", limit=150)

    assert result.content[0].text.endswith(
        "\n\n[150 matches limit reached. Use limit=300 for more, or refine pattern. 50.0KB limit reached. "
        "Some lines truncated to 500 chars. Use read tool to see full lines]"
    )
    assert result.details["truncation"]["truncatedBy"] == "bytes"


async def test_nothing_found_and_nothing_there(text, failure, tree):
    assert await text("grep", pattern="nowhere to be found") == "No matches found"
    assert await failure("grep", pattern="x", path="nope") == f"Path not found: {tree}/nope"


async def test_a_pattern_that_ripgrep_rejects(failure, tree):
    assert "regex parse error" in await failure("grep", pattern="(unclosed")
    assert "error parsing glob" in await failure("grep", pattern="x", glob="[")
    assert "NUL" in await failure("grep", pattern="a\0b")


async def test_an_unreadable_file_does_not_hide_the_matches(text, tree):
    (tree / "loop").symlink_to("loop")
    (tree / "secret").touch(mode=0)

    assert "src/a.py:2: needle = 1" in await text("grep", pattern="needle")


async def test_odd_files(text, failure, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "new\nline").write_text("needle\r\n")
    (tmp_path / "caf\udce9").write_bytes(b"needle \xff\n")
    (tmp_path / "utf16").write_text("needle\n", encoding="utf-16")

    assert await text("grep", pattern="needle") == (
        "$'caf\\xe9':1: needle \ufffd\n$'new\\nline':1: needle\nutf16:1: needle"
    )
    assert "a FIFO" in await failure("grep", pattern="x", path="fifo")


async def test_a_binary_file_matches_as_text_when_it_is_named(text, tmp_path):
    (tmp_path / "a").write_bytes(b"needle one\n\0\nneedle two\n")

    assert await text("grep", pattern="needle") in ("No matches found", "a:1: needle one")
    assert (await text("grep", pattern="needle", path="a")).startswith("a:1: needle one")


async def test_a_search_ends_at_an_abort(call, tmp_path, none_left):
    controller = AbortController()
    asyncio.get_running_loop().call_later(0.1, controller.abort)

    with pytest.raises(Exception, match=r"^Operation aborted$"):
        await call("grep", pattern="nowhere.*to.*be.*found.*xyz", path="/", signal=controller.signal)

    assert await none_left("nowhere.*to.*be") == []


@pytest.mark.slow
async def test_a_huge_context_costs_no_more_than_the_file(text, tmp_path):
    (tmp_path / "a").write_text("x\n" * 20_000)

    assert (await text("grep", pattern="x", limit=1, context=10**12)).startswith("a:1: x\na-2- x\n")
    assert (await text("grep", pattern="x", limit=10**9, context=10**12)).startswith("a:1: x\na-2- x\n")


async def test_without_descriptors_the_reason_is_reported(failure, call, monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("os.pipe", refuse)

    assert "ripgrep could not be started" in await failure("grep", pattern="x")
    assert await failure("bash", command="true") == "EMFILE: too many open files, pipe"

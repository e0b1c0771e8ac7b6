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


async def test_context_shows_each_line_once(text, tmp_path):
    (tmp_path / "f").write_text("a\nx1\nx2\nb\nc\nd\ne\nx3\n")

    assert await text("grep", pattern="x", context=1) == "f-1- a\nf:2: x1\nf:3: x2\nf-4- b\nf-7- e\nf:8: x3"
    assert await text("grep", pattern="b", context=2) == "f-2- x1\nf-3- x2\nf:4: b\nf-5- c\nf-6- d"


async def test_a_glob_is_relative_to_the_folder_searched(text, tree):
    assert await text("grep", pattern="needle", glob="*.py") == "src/a.py:2: needle = 1"
    assert await text("grep", pattern="needle", glob="src/*", path="src") == "No matches found"
    assert await text("grep", pattern="needle", glob="a.*", path="src") == "a.py:2: needle = 1"
    for glob in (
        "src/*.py",
        "./src/*.py",
        "/src/*.py",
        "src/",
        "./src/",
        "**/*.py",
        f"{tree}/src/**",
        "{src,lib}/*.py",
    ):
        assert await text("grep", pattern="needle", glob=glob) == "src/a.py:2: needle = 1", glob
    assert await text("grep", pattern="eedle", glob="!./src/*.py") == ".hidden:1: needle\nsrc/b.txt:1: Needle"
    assert await text("grep", pattern="needle", glob="!src/") == ".hidden:1: needle"


async def test_literal(text, tree):
    assert await text("grep", pattern="e = 1", literal=True) == "src/a.py:2: needle = 1"
    assert await text("grep", pattern="n.edle(", literal=True) == "No matches found"


@pytest.mark.parametrize(
    "glob", ["*", "**", "src/**", "**/.env", "*.min.js", "src/*.js", "{src,lib}/**", "src/", ".env"]
)
async def test_what_is_ignored_stays_ignored_with_a_glob(text, tmp_path, glob):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("node_modules/\n*.min.js\n.env\n")
    for name in ("src/.env", "src/node_modules/q/i.js", "src/a.min.js", ".env", "src/a.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")

    assert await text("grep", pattern="needle", glob=glob) in ("src/a.js:1: needle", "No matches found")


@pytest.mark.parametrize("pattern", ["-v", "--files", "-e x"])
async def test_a_pattern_is_never_an_option(text, tree, pattern):
    (tree / "a").write_text(f"{pattern}\n")

    assert await text("grep", pattern=pattern) == f"a:1: {pattern}"


async def test_ignored_files_are_not_searched_in_a_repository(text, tree):
    (tree / ".gitignore").write_text("*.py\n")
    assert "src/a.py" in await text("grep", pattern="needle")

    (tree / ".git").mkdir()
    assert await text("grep", pattern="needle") == ".hidden:1: needle"
    assert await text("grep", pattern="needle", glob="*.py") == "No matches found"


async def test_the_users_configuration_does_not_count(text, tree, monkeypatch):
    (tree / "rc").write_text("--ignore-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tree / "rc"))

    assert "b.txt" not in await text("grep", pattern="needle")


async def test_only_more_matches_than_the_limit_are_worth_a_notice(call, tmp_path):
    (tmp_path / "a").write_text("x\n" * 5)

    result = await call("grep", pattern="x", limit=4)

    assert result.content[0].text.endswith(
        "a:4: x\n\n[4 matches limit reached. Use limit=8 for more, or refine pattern]"
    )
    assert result.details == {"matchLimitReached": 4}
    assert (await call("grep", pattern="x", limit=5)).details is None
    assert (await call("grep", pattern="x", limit=0)).details == {"matchLimitReached": 1}


async def test_a_dollar_is_the_end_of_a_line_whatever_ends_it(text, tmp_path):
    (tmp_path / "crlf").write_bytes(b"the end\r\nend of\r\nthe end")
    (tmp_path / "cr").write_bytes(b"a\rb\rend\nnext\n")

    assert await text("grep", pattern="end$") == "cr:1: a\rb\rend\ncrlf:1: the end\ncrlf:3: the end"
    assert await text("grep", pattern="end$", context=1, path="cr") == "cr:1: a\rb\rend\ncr-2- next"


async def test_a_nul_ends_the_search_of_its_file_with_a_notice(text, tmp_path):
    """Anywhere in the file; a file without matches after it is nothing to report."""
    more = "and it has matches after it"
    (tmp_path / "late.log").write_text("needle 1\n" + "filler\n" * 20_000 + "a\0b\nneedle 2\n")
    (tmp_path / "data").write_bytes(b"\0needle\n")
    (tmp_path / "wide").write_text("needle\n", encoding="utf-16-le")
    (tmp_path / "quiet").write_bytes(b"needle 3\n\0")

    assert await text("grep", pattern="needle [12]") == (
        f"late.log:1: needle 1\n\n[late.log: searched only up to a NUL in line 20002, {more}. "
        "To search such a file whole, give it as path]"
    )
    assert await text("grep", pattern="needle 2", glob="*.log") == (
        f"No matches found\n\n[late.log: searched only up to a NUL in line 20002, {more}. "
        "To search such a file whole, give it as path]"
    )
    assert "needle 2" in await text("grep", pattern="needle 2", path="late.log")
    assert await text("grep", pattern="needle 3") == "quiet:1: needle 3"
    assert await text("grep", pattern="needle$", glob="{data,wide}") == (
        f"No matches found\n\n[data: searched only up to a NUL in line 1, {more}. "
        "To search such a file whole, give it as path]"
    )


async def test_many_files_with_a_nul_are_counted(text, tmp_path):
    for number in range(9):
        (tmp_path / f"{number}.bin").write_bytes(b"\0needle\n")
    (tmp_path / "text").write_text("needle" + "x" * 600)

    shown = await text("grep", pattern="needle", limit=1)

    assert shown.count("searched only up to a NUL") == 3
    assert "6 more files with a NUL have matches after it" in shown
    assert shown.rpartition("\n\n")[2].startswith("[Some lines truncated")


async def test_a_match_far_along_a_line_is_shown(call, tmp_path):
    (tmp_path / "a").write_text("x" * 5000 + "é needle" + "y" * 5000 + "\n" + "needle" + "z" * 600 + "\n")

    result = await call("grep", pattern="needle")
    first, second, *_ = result.content[0].text.split("\n")

    assert first == "a:1: [truncated] ..." + "x" * 98 + "é needle" + "y" * 394 + "... [truncated]"
    assert second == "a:2: needle" + "z" * 494 + "... [truncated]"
    assert result.details == {"linesTruncated": True}


async def test_the_last_match_keeps_its_context(text, tmp_path):
    (tmp_path / "a").write_text("x1\nx2\nx3\nx4\n")

    assert (await text("grep", pattern="x", limit=1, context=2)).startswith("a:1: x1\na-2- x2\na-3- x3\n\n[1 matches")


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
    assert "Invalid glob pattern '['" in await failure("grep", pattern="x", glob="[")
    assert "leads out of the folder" in await failure("grep", pattern="x", glob="../*")
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

    assert (await text("grep", pattern="needle")).startswith("a:1: needle one\n\n[a: searched only up to a NUL")
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
    assert (await text("grep", pattern="x", limit=10**9, context=10**12)).startswith("a:1: x\na:2: x\n")


async def test_without_descriptors_the_reason_is_reported(failure, call, monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("os.pipe", refuse)

    assert "ripgrep could not be started" in await failure("grep", pattern="x")
    assert await failure("bash", command="true") == "EMFILE: too many open files, pipe"

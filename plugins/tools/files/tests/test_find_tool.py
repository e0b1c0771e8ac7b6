"""``find``: patterns, order, limits."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_tools.searching import globs
from pi_tools.searching.walk import find


@pytest.fixture
def tree(tmp_path):
    for name in ("src/deep/x.spec.ts", "src/a.py", "src/B.PY", "docs/a.md", ".config/z.py", "top.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "empty.py").mkdir()
    (tmp_path / "linked").symlink_to("src")
    (tmp_path / "broken.py").symlink_to("nowhere")
    return tmp_path


async def found(text, pattern, **more):
    return (await text("find", pattern=pattern, **more)).split("\n")


async def test_names_match_anywhere_in_the_order_of_names(text, tree):
    assert await found(text, "*.py") == [".config/z.py", "broken.py", "empty.py/", "src/B.PY", "src/a.py", "top.py"]


async def test_a_file_is_no_place_to_search_in(failure, tree):
    assert await failure("find", pattern="*", path="top.py") == "Not a directory: top.py"
    assert await failure("find", pattern="*", path="nowhere") == f"Path not found: {tree}/nowhere"


async def test_a_capital_makes_it_exact(text, tree):
    assert await found(text, "*.PY") == ["src/B.PY"]
    assert await found(text, "b.p?") == ["src/B.PY"]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("src/*.py", ["src/B.PY", "src/a.py"]),
        ("src/**/*.spec.ts", ["src/deep/x.spec.ts"]),
        ("**/*.md", ["docs/a.md"]),
        ("deep/*", ["No files found matching pattern"]),
        ("**/deep/*", ["src/deep/x.spec.ts"]),
        ("./src/*.py", ["src/B.PY", "src/a.py"]),
        (".//src/./a.py", ["src/a.py"]),
        ("./a.py", ["src/a.py"]),
        ("{src,docs}/a.*", ["docs/a.md", "src/a.py"]),
        ("[!a-z]*.md", ["No files found matching pattern"]),
        ("[ad]*", ["docs/", "docs/a.md", "src/a.py", "src/deep/"]),
        ("linked", ["linked"]),
        ("/src/*.py", ["src/B.PY", "src/a.py"]),
        ("/a.py", ["No files found matching pattern"]),
        ("src/", ["src/"]),
        ("src/deep/", ["src/deep/"]),
        ("*/", [".config/", "docs/", "empty.py/", "src/", "src/deep/"]),
        ("linked/", ["No files found matching pattern"]),
        ("src", ["src/"]),
        ("a\\.py", ["src/a.py"]),
    ],
)
async def test_patterns(text, tree, pattern, paths):
    assert await found(text, pattern) == paths


async def test_folders_above_never_count(text, tmp_path):
    """A project in ``.../src/app``: the folders above have the names that the pattern asks for."""
    for name in ("other/c.ts", "src/a.ts", "pkg/src/b.ts"):
        path = tmp_path / "src/app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert await found(text, "src/**/*.ts", path="src/app") == ["src/a.ts"]
    assert await found(text, "**/src/*.ts", path="src/app") == ["pkg/src/b.ts", "src/a.ts"]
    assert await found(text, f"{tmp_path}/src/app/src/*.ts", path="src/app") == ["src/a.ts"]
    assert await found(text, f"{tmp_path}/src/app/*.ts", path="src/app") == ["No files found matching pattern"]


async def test_a_pattern_that_leads_out_of_the_folder_is_refused(failure, tree):
    assert await failure("find", pattern="../docs/*.md", path="src") == (
        "Invalid glob pattern '../docs/*.md': it leads out of the folder that is searched. Give that folder as path."
    )


async def test_what_git_keeps_for_itself_is_left_out_unless_it_is_the_folder_searched(text, tmp_path):
    (tmp_path / ".git/refs").mkdir(parents=True)
    (tmp_path / ".git/config").write_text("text\n")

    assert await found(text, "**") == ["No files found matching pattern"]
    assert await found(text, "config", path=".git") == ["config"]
    assert await text("grep", pattern="text") == "No matches found"
    assert await text("grep", pattern="text", path=".git") == "config:1: text"


async def test_a_folder_to_search(text, failure, tree):
    assert await found(text, "*.ts", path="src") == ["deep/x.spec.ts"]
    assert await failure("find", pattern="*", path="nope") == f"Path not found: {tree}/nope"


async def test_the_limit(call, tree):
    result = await call("find", pattern="*.py", limit=2)

    assert result.content[0].text == (
        ".config/z.py\nbroken.py\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]"
    )
    assert result.details == {"resultLimitReached": 2}
    assert (await call("find", pattern="*.py", limit=-1)).details == {"resultLimitReached": 1}
    assert (await call("find", pattern="*.py", limit=6)).details is None


async def test_many_bytes(call, tmp_path):
    for n in range(900):
        (tmp_path / f"{'x' * 80}{n:03}").touch()

    result = await call("find", pattern="x*")

    assert result.content[0].text.endswith("\n\n[50.0KB limit reached]")
    assert result.details["truncation"]["truncatedBy"] == "bytes"


@pytest.mark.parametrize("pattern", ["[", "{a", "a}", "[z-a]"])
async def test_a_malformed_pattern(failure, tree, pattern):
    assert (await failure("find", pattern=pattern)).startswith(f"Invalid glob pattern {pattern!r}: ")


GLOBS = st.lists(st.sampled_from(["a", "b", "*", "**/", "/**", "/", "?", "[ab]", "a*", "*b"]), max_size=8).map("".join)
PATHS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@settings(max_examples=8 * settings().max_examples)
@given(GLOBS, st.lists(PATHS, max_size=8))
def test_stars_that_give_nothing_back_match_what_those_that_do_match(glob, paths):
    quick = re.compile(globs.ignore_regex(glob), re.DOTALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(globs, "_without_backtracking", "".join)
        plain = re.compile(globs.ignore_regex(glob), re.DOTALL)

    assert [bool(quick.fullmatch(path)) for path in paths] == [bool(plain.fullmatch(path)) for path in paths]


@pytest.mark.parametrize("glob", ["*a" * 40 + "b", "**/" + "a*" * 40 + "b", "*/**/" * 20 + "b"])
async def test_many_stars_take_no_time(text, tmp_path, glob):
    """Otherwise hours, in which nothing else of pi runs; the pattern may come from a repository's ignore file."""
    (tmp_path / ("a" * 200)).touch()
    (tmp_path / ".gitignore").write_text(glob)

    assert await found(text, glob) == ["No files found matching pattern"]


async def test_odd_names(text, tmp_path):
    (tmp_path / "a\nb.py").touch()
    (tmp_path / "caf\udce9.py").touch()

    assert await found(text, "*.py") == ["$'a\\nb.py'", "$'caf\\xe9.py'"]


def test_very_deep_trees(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    found = find("d", str(tmp_path), 10_000, lambda: False)
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # pytest could not: it would recurse too deep

    assert len(found) == 1200

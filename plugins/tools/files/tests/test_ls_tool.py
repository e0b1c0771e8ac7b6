"""``ls``: order, marks, limits."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_tools.collate import ASCII_ORDER, in_order

MEASURED = ["_u", "-d", ".p", "(x)", "[y]", "#h", "+p", "~t", "1a", "a b", "a_b", "a-b", "a.b", "Ab", "ab", "Äb", "zz"]


async def test_one_entry_per_line_with_marks(text, tmp_path):
    (tmp_path / "dir").mkdir()
    (tmp_path / ".dot").touch()
    (tmp_path / "linkd").symlink_to("dir")
    (tmp_path / "linkf").symlink_to(".dot")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")

    assert await text("ls") == ".dot\ndir/\nlinkd/\nlinkf"


@pytest.mark.parametrize("seed", range(3))
def test_the_order_that_was_measured(seed):
    names = MEASURED.copy()
    random.Random(seed).shuffle(names)  # noqa: S311 - an order, not a secret

    assert [name for name, _ in in_order([(name, False) for name in names])] == MEASURED


def test_accented_letters_sort_next_to_their_base_letter():
    names = ["linkd", "été", "C", "zz"]

    assert [name for name, _ in in_order([(name, False) for name in names])] == ["C", "été", "linkd", "zz"]


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(st.text(st.characters(max_codepoint=0x250, exclude_characters="/\0"), min_size=1, max_size=6)))
def test_the_short_way_for_ascii_is_the_collation(names):
    from pyuca import Collator

    key = collator.sort_key if (collator := CACHE.get("c")) else CACHE.setdefault("c", Collator()).sort_key
    wanted = sorted(names, key=lambda name: (key(name.lower()), name))

    assert [name for name, _ in in_order([(name, False) for name in names])] == wanted
    ascii_only = [name for name in wanted if name.isascii()]
    assert [name for name, _ in in_order([(name, False) for name in ascii_only])] == ascii_only


CACHE = {}


def test_the_table_of_ascii_is_complete():
    assert len(ASCII_ORDER) == 5 + 95 - 26


async def test_empty_directories(text, tmp_path):
    assert await text("ls") == "(empty directory)"
    (tmp_path / "broken").symlink_to("nowhere")
    assert await text("ls") == "(empty directory)"
    (tmp_path / "a").touch()
    assert await text("ls", limit=0) == "a"


async def test_the_limit(call, tmp_path):
    for n in range(5):
        (tmp_path / str(n)).touch()

    result = await call("ls", limit=2)

    assert result.content[0].text == "0\n1\n\n[2 entries limit reached. Use limit=4 for more]"
    assert result.details == {"entryLimitReached": 2}
    assert (await call("ls", limit=5)).details is None


async def test_many_bytes_and_many_lines(call, tmp_path):
    for n in range(2500):
        (tmp_path / f"{n:04}").touch()
    assert (await call("ls", limit=3000)).content[0].text.count("\n") == 2499

    (tmp_path / "long").mkdir()
    for n in range(400):
        (tmp_path / "long" / f"{'x' * 200}{n:03}").touch()
    result = await call("ls", path="long")

    assert result.content[0].text.endswith("\n\n[50.0KB limit reached]")
    assert result.details["truncation"]["truncatedBy"] == "bytes"


async def test_errors(failure, tmp_path):
    (tmp_path / "f").touch()

    assert await failure("ls", path="nope") == f"Path not found: {tmp_path}/nope"
    assert await failure("ls", path="f") == f"Not a directory: {tmp_path}/f"


async def test_a_closed_directory(failure, ctx, plain_user):
    (ctx.cwd / "d").mkdir(mode=0)

    with plain_user:
        message = await failure("ls", path="d")

    assert message == f"Cannot read directory: EACCES: permission denied, scandir '{ctx.cwd}/d'"


async def test_odd_names_stay_on_one_line(text, tmp_path):
    (tmp_path / "a\nb").touch()
    (tmp_path / "caf\udce9").touch()

    assert await text("ls") == "$'a\\nb'\n$'caf\\xe9'"
    assert await text("bash", command="cat $'a\\nb' $'caf\\xe9'") == "(no output)"

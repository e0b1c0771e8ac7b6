"""Names that look the same: every tool reaches the file that exists, whichever form of its name it is given."""

from __future__ import annotations

import unicodedata

import pytest

from pi_testing import for_each
from pi_tools.paths import locate

FORMS = [
    ("caf\u00e9.txt", "cafe\u0301.txt"),
    ("cafe\u0301.txt", "caf\u00e9.txt"),
    ("\ud55c\uae00.txt", unicodedata.normalize("NFD", "\ud55c\uae00.txt")),
    ("a\u00a0b.txt", "a\u00a0b.txt"),
    ("a\u00a0b.txt", "a b.txt"),
    ("a b.txt", "a\u00a0b.txt"),
    ("\uff46ull\u3000width.txt", "\uff46ull\u3000width.txt"),
    ("\uff46ull\u3000width.txt", "\uff46ull width.txt"),
    ("Shot 10.00.00\u202fAM.txt", "Shot 10.00.00 AM.txt"),
    ("Shot 10.00.00\u202fAM.txt", "Shot 10.00.00\u202fAM.txt"),
    ("it\u2019s.txt", "it's.txt"),
    ("it's.txt", "it\u2019s.txt"),
    ("l\u2019e\u0301te\u0301 \u00e0.txt", "l'\u00e9t\u00e9\u00a0a\u0300.txt"),
    ("@sign.txt", "@sign.txt"),
]


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize(("name", "given"), FORMS)
async def test_every_tool_reaches_the_file(text, tmp_path, name, given, folder):
    name, given = (f"{name}.d/file", f"{given}.d/file") if folder else (name, given)
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("hello\n")

    assert await text("read", path=given) == "hello\n"
    assert (await text("grep", pattern="hello", path=given)).endswith(":1: hello")
    await text("edit", path=given, edits=[{"oldText": "hello", "newText": "HELLO"}])
    assert file.read_text() == "HELLO\n"
    await text("write", path=given, content="new\n")
    assert file.read_text() == "new\n"
    if folder:
        await text("write", path=given.replace("/file", "/other"), content="more\n")
        assert sorted(path.name for path in file.parent.iterdir()) == ["file", "other"]
        assert await text("ls", path=given.removesuffix("/file")) == "file\nother"
        assert await text("find", pattern="f*", path=given.removesuffix("/file")) == "file"
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_patterns_match_accents_in_both_forms(text, tmp_path, form):
    name = unicodedata.normalize(form, "caf\u00e9.txt")
    (tmp_path / name).write_text("hello\n")

    for pattern in ("caf\u00e9.txt", "cafe\u0301.*", "caf?.txt", "**/*\u00e9.txt"):
        assert await text("find", pattern=pattern) == name, pattern
        assert await text("grep", pattern="hello", glob=pattern) == f"{name}:1: hello", pattern


async def test_the_name_as_it_was_given_comes_first(text, tmp_path):
    (tmp_path / "a b").write_text("blank")
    (tmp_path / "a\u00a0b").write_text("nbsp")

    assert await text("read", path="a b") == "blank"
    assert await text("read", path="a\u00a0b") == "nbsp"


async def test_several_names_that_look_like_it_are_refused(failure, tmp_path):
    (tmp_path / "a\u3000b").write_text("one")
    (tmp_path / "a\u00a0b").write_text("two")

    for name, more in (("read", {}), ("write", {"content": "x"}), ("edit", {"oldText": "one", "newText": "x"})):
        assert r"several names look like it: 'a\u3000b', 'a\xa0b'" in await failure(name, path="a b", **more)


async def test_a_new_file_gets_plain_blanks(text, tmp_path):
    await text("write", path="new\u00a0name", content="x")

    assert [path.name for path in tmp_path.iterdir()] == ["new name"]


@for_each(("exists", "given", "found"), [("a\u00a0b", "a\u00a0b", "a\u00a0b"), ("a b", "a\u00a0b", "a b")])
async def test_elsewhere_the_name_as_it_was_given_comes_first_too(exists, given, found):
    async def probe(path):
        if path != f"/w/{exists}":
            raise FileNotFoundError(path)

    assert await locate(given, "/w", probe) == f"/w/{found}"

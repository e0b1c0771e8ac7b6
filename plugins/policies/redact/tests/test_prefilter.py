"""The prefilter: it leaves out nothing that the patterns find, and its stored database is not trusted blindly."""

from __future__ import annotations

import json
import os
import random
import re
import stat
import sys
import sysconfig
import threading
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_redact.assignments import assigned_values, named_values
from pi_redact.formats import FORMATS, _compiled, _occurrences
from pi_redact.prefilter import Prefilter
from pi_redact.redactor import Redactor

pytest.importorskip("hyperscan", reason="there is no wheel of hyperscan for this system")

KEY = b"k" * 32
PADDING = "words that are no key, in a text that is long enough to be searched\n"


@cache
def prefilter():
    found = Prefilter()
    assert found.wait()
    return found


@pytest.fixture
def pair():
    """A redactor without the prefilter and one with it, which know the same secrets."""
    redactors = Redactor(KEY, strict=True), Redactor(KEY, strict=True, prefilter=prefilter())
    for each in redactors:
        each.know([("SOME_TOKEN", "correct-horse-battery"), ("OTHER", 'quo"ted\\secret')])
    return redactors


def assert_equal(pair, text):
    plain, filtered = pair
    assert filtered.redact(text) == plain.redact(text), text


DISGUISES = (
    "{}",
    "token{}",
    "my_{}",
    "%3D{}%26b%3D1",
    "line\\n{}\\nline",
    "\\u0022{}\\u0022",
    '{{\\"key\\": \\"{}\\"}}',
    "\x1b[1;31m{}\x1b[m",
    "&quot;{}&quot;",
    "\u200b{}\ufeff",
    "é{}é",
    "\u00a0{}\u2003",
    "\udc80{}\udcff",
)


def test_every_format_in_every_disguise_is_found_as_without_it(pair, shapes, made_up, private_key):
    texts = [text for text, _ in shapes(1).values()] + [*made_up(1).values(), private_key(1)]
    for text in texts:
        for disguise in DISGUISES:
            assert_equal(pair, PADDING + disguise.format(text) + "\n" + PADDING)
        assert_equal(pair, PADDING + json.dumps(json.dumps({"text": text})))


@pytest.mark.parametrize("number", range(len(FORMATS)), ids=lambda number: f"{number}-{FORMATS[number].name}")
def test_what_a_pattern_matches_its_expression_matches(number):
    pattern, found = _compiled(number), 0

    @settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
    @given(st.from_regex(pattern), st.text(max_size=20), st.randoms())
    def check(text, around, chance):
        nonlocal found
        text = around + text + around + chance.choice((text, text[: len(text) // 2], ""))
        text += PADDING
        matches = [match.span() for match in pattern.finditer(text)]
        data = prefilter().data_of(text)
        found += len(matches)

        assert [match.span() for match in _occurrences(pattern, FORMATS[number], text)] == matches
        assert not matches or number in prefilter().find(data, len(text)).formats

    check()
    assert found, "the strategy made no match: the test proves nothing"


NAMES = (
    "password passwd Passwort PASSPHRASE pwd db_pass DB_PASSWORD SECRET client_secret token TOKEN2 api_key API-KEY"
    " X_KEY secret_key_base to\u212aen api_\u212aey \u0130_token sort_key ::token --password --api-key -token"
    " acce\u017f\u017f_key"
).split()
SIGNS = (
    "=",
    ": ",
    ":=",
    " => ",
    "%3D",
    ">",
    '": "',
    '\\": \\"',
    "']=",
    " = '",
    "=&quot;",
    " ",
    "  ",
    "\u00a0=\u00a0\u2003",
)
VALUES = st.one_of(
    st.sampled_from(
        (
            "changeme", "correcthorse", "h3avy-Rain", "Tr0ub4dor&3zebra", "getpass()", "${TOKEN}", "aBcDeFgHiJkLmNoP",
            "module_config", "12345678", "p4ss,word", "\u0661\u0662\u0663abcdef", "caf\u00e9-cr\u00e8me9", "abc-1",
            "a1b2c",
        )
    ),
    st.text(alphabet="abXY01_-./+&é²", min_size=1, max_size=40),
    st.text(min_size=1, max_size=12),
    st.text(alphabet="abcdefg", min_size=240, max_size=270).map(lambda value: value + "9!"),
)  # fmt: skip
ASSIGNMENTS = st.tuples(
    st.sampled_from(("", "MY_", '"', "export ", "https://x.org/?", "é")),
    st.sampled_from(NAMES),
    st.sampled_from(SIGNS),
    VALUES,
    st.sampled_from(("", '"', "'", "&quot;", ";", "\n", " ", "\\n", ")")),
).map("".join)


@given(st.lists(ASSIGNMENTS, min_size=1, max_size=6), st.text(max_size=30))
def test_assigned_values_are_found_as_without_it(parts, between):
    text = PADDING + between.join(parts) + PADDING
    data = prefilter().data_of(text)
    found = prefilter().find(data, len(text))

    assert sorted(set(assigned_values(text, found.assigned))) == sorted(set(assigned_values(text)))
    assert found.is_named or [*named_values(text)] == []


def test_more_assignments_than_are_recorded_are_found(pair):
    text = "".join(f"DB_PASSWORD=correct{number}horse\n" for number in range(3000))

    assert_equal(pair, text)
    assert "horse" not in pair[1].redact(text)


@given(data=st.data())
def test_a_text_is_redacted_as_without_it(shapes, made_up, data):
    plain, filtered = Redactor(KEY, strict=True), Redactor(KEY, strict=True, prefilter=prefilter())
    known = [("A", "correct-horse-battery"), ("B", "kn\u00f6wn <secret>")]
    plain.know(known)
    filtered.know(known)
    number = data.draw(st.integers(0, 3))
    secrets = [text for text, _ in shapes(number).values()] + [
        *made_up(number).values(),
        *(value for _, value in known),
    ]
    part = st.one_of(st.sampled_from(secrets), ASSIGNMENTS, st.text(max_size=60), st.just(PADDING * 300))
    text = data.draw(st.sampled_from((" ", "\n", "", "-", "\u2003"))).join(data.draw(st.lists(part, max_size=8)))

    assert filtered.redact(text) == plain.redact(text)


def test_all_of_pythons_own_library_is_redacted_as_without_it(pair):
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    for file in random.Random(3).sample(files, 12):  # noqa: S311 - any will do
        assert_equal(pair, file.read_text(encoding="utf-8", errors="surrogateescape"))


def mine(file, key=KEY):
    made = Prefilter(file, key)
    assert made.wait()
    return made


def test_the_database_is_stored_for_the_user_alone_and_used_again(tmp_path, monkeypatch):
    file = tmp_path / "agent" / "cache" / "redact.hs"
    mine(file)
    stored = file.read_bytes()
    monkeypatch.setattr("pi_redact.prefilter._compiled", None)  # it must not be compiled again

    mine(file)

    assert file.read_bytes() == stored
    assert os.name != "posix" or stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "doubt", ["changed", "cut", "empty", "of another key", "of another version", "readable", "a link"]
)
def test_a_database_of_which_there_is_any_doubt_is_made_again(tmp_path, doubt, monkeypatch):
    file = tmp_path / "cache" / "redact.hs"
    mine(file, b"x" * 32 if doubt == "of another key" else KEY)
    if doubt == "of another version":
        monkeypatch.setattr(sys.modules["hyperscan"], "__version__", "0.0")
    good, loaded = file.read_bytes(), []
    if doubt == "changed":
        file.write_bytes(good[:1000] + bytes((good[1000] ^ 1,)) + good[1001:])
    elif doubt in ("cut", "empty"):
        file.write_bytes(good[:1000] if doubt == "cut" else b"")
    elif doubt == "readable":
        file.chmod(0o644)
    elif doubt == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(sys.modules["hyperscan"], "loadb", lambda *_: loaded.append(1))

    again = mine(file)

    assert loaded == []
    text = PADDING + "ghp_" + "a1B2" * 9
    assert "ghp_" not in Redactor(KEY, prefilter=again).redact(text)
    monkeypatch.undo()
    if doubt not in ("a link", "of another version"):
        assert len(file.read_bytes()) == len(good)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_database_that_finds_nothing_is_not_used(tmp_path, monkeypatch):
    import hyperscan

    wrong = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    wrong.compile(expressions=[b"never"], ids=[0], elements=1, flags=[0])
    file = tmp_path / "redact.hs"
    mine(file)
    monkeypatch.setattr(hyperscan, "loadb", lambda *_: wrong)

    assert "ghp_" not in Redactor(KEY, prefilter=mine(file)).redact(PADDING + "ghp_" + "a1B2" * 9)


@pytest.mark.parametrize("failure", ["no wheel", "no compiler", "no folder"])
def test_without_a_database_texts_are_redacted_all_the_same(tmp_path, monkeypatch, failure):
    file = tmp_path / "redact.hs"
    if failure == "no wheel":
        monkeypatch.setitem(sys.modules, "hyperscan", None)
    elif failure == "no compiler":
        monkeypatch.setattr(sys.modules["hyperscan"], "Database", None)
    else:
        (tmp_path / "file").touch()
        file = tmp_path / "file" / "redact.hs"
    made = Prefilter(file, KEY)

    assert made.wait() is (failure == "no folder")
    assert "ghp_" not in Redactor(KEY, prefilter=made).redact(PADDING * 3000 + "ghp_" + "a1B2" * 9)


def test_an_error_of_a_scan_leaves_no_secret(monkeypatch):
    made = Prefilter()
    assert made.wait()
    redactor = Redactor(KEY, prefilter=made)
    redactor.know([("A", "correct-horse-battery")])
    monkeypatch.setattr("pi_redact.prefilter.Searcher.scan", lambda *_: 1 / 0)

    clean = redactor.redact(PADDING * 400 + "ghp_" + "a1B2" * 9 + " correct-horse-battery")

    assert "ghp_" not in clean
    assert "horse" not in clean


def test_short_texts_do_not_load_the_library():
    made = Prefilter()
    for _ in range(100):
        assert made.data_of(PADDING * 10) is None

    assert made._is_started is False


def test_a_long_text_waits_for_the_library_instead_of_being_searched_without_it(monkeypatch):
    searched = []

    def matches(text, numbers=None):
        searched.append(numbers)
        return iter(())

    monkeypatch.setattr("pi_redact.redactor.matches", matches)
    redactor = Redactor(KEY, prefilter=Prefilter())
    redactor.redact("short texts do not wait for it " * 10)
    redactor.redact(PADDING * (1 + (1 << 20) // len(PADDING)))

    assert searched == [None, []]


def test_threads_scan_at_the_same_time():
    redactor, found = Redactor(KEY, prefilter=prefilter()), []
    redactor.know([("A", "correct-horse-battery")])
    wanted = f"{redactor.mark('github', 'ghp_' + 'a1B2' * 9)} {redactor.mark('A', 'correct-horse-battery')}"
    text = PADDING * 2000 + "ghp_" + "a1B2" * 9 + " correct-horse-battery"
    threads = [threading.Thread(target=lambda: found.append(redactor.redact(text))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert set(found) == {PADDING * 2000 + wanted}


def test_a_text_without_secrets_is_searched_once_and_by_no_pattern(monkeypatch):
    scanned = []
    scan = sys.modules["pi_redact.prefilter"].Searcher.scan
    monkeypatch.setattr("pi_redact.prefilter.Searcher.scan", lambda *a: (scanned.append(len(a[1])), scan(*a)))
    monkeypatch.setattr("pi_redact.formats._compiled", lambda _: re.compile("this pattern is not wanted")[0])
    text = PADDING * 1000

    assert Redactor(KEY, prefilter=prefilter()).redact(text) is text
    assert scanned == [len(text)]


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_text_is_redacted_where_there_is_no_memory_for_a_thread(monkeypatch, error):
    def refuse(*_):
        raise error

    redactor = Redactor(KEY, prefilter=Prefilter())
    text = PADDING * 20_000 + "ghp_" + "a1B2" * 9
    with monkeypatch.context() as patch:
        patch.setattr("_thread.start_new_thread", refuse)
        short = redactor.redact(text)

    assert "[secret:github:" in short
    assert redactor.redact(text) == short

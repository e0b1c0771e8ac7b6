"""What is understood: phrasings, names, "it", and that no text is an error."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_provider_offline.requests import Request, parse
from pi_testing import for_each


def request(kind, path=".", **fields):
    return Request(kind=kind, path=path, **fields)


ALL = ("lines", "words", "characters")

PHRASINGS = {
    "list files": request("list"),
    "LIST THE FILES HERE!": request("list"),
    "ls": request("list"),
    "ls -la src": request("list", "src"),
    "Please list all the files in src/": request("list", "src/"),
    "Could you list the files in the docs folder?": request("list", "docs"),
    'Which files are there in "my folder"?': request("list", "my folder"),
    "show me the files": request("list"),
    "what's in src": request("list", "src"),
    "read README.md": request("read", "README.md"),
    "Read the file notes.txt.": request("read", "notes.txt"),
    "open `a b.txt`": request("read", "a b.txt"),
    "show me the contents of pyproject.toml": request("read", "pyproject.toml"),
    "What is in README.md?": request("read", "README.md"),
    "read @README.md": request("read", "README.md"),
    "show the first line of a.txt": request("read", "a.txt", count=1),
    "show first 3 lines of a.txt": request("read", "a.txt", count=3),
    "print the last 5 lines of log.txt": request("read", "log.txt", first=-5, count=5),
    "find README.md": request("find", text="README.md"),
    "find all *.py files in src": request("find", "src", text="*.py"),
    "find files named setup.cfg": request("find", text="setup.cfg"),
    "search for TODO": request("search", text="TODO"),
    'search for "foo bar" in src': request("search", "src", text="foo bar"),
    "grep TODO in src/": request("search", "src/", text="TODO"),
    "look for hello world in README.md": request("search", "README.md", text="hello world"),
    "count words in README.md": request("count", "README.md", units=("words",)),
    "count the lines and words of a.txt": request("count", "a.txt", units=("lines", "words")),
    "count words, characters and lines in 'my file.txt'": request("count", "my file.txt", units=ALL),
    "how many lines does a.txt have?": request("count", "a.txt", units=("lines",)),
    "how many files are here?": request("count files"),
    "count files in src": request("count files", "src"),
    "run `ls -la`": request("run", text="ls -la"),
    "Run the command 'git status'.": request("run", text="git status"),
    "run: echo hi": request("run", text="echo hi"),
    "run:\n```sh\necho a\necho b\n```": request("run", text="echo a\necho b\n"),
    "write notes.txt: hello world": request("write", "notes.txt", text="hello world"),
    "write notes.txt: buy milk and read a book": request("write", "notes.txt", text="buy milk and read a book"),
    'Write a file todo.md with the text "one, two"': request("write", "todo.md", text="one, two"),
    "create an empty file x.txt": request("write", "x.txt"),
    "write hello world to notes.txt": request("write", "notes.txt", text="hello world"),
    'call word_count with {"path": "a, b.txt"}': request("call", text='{"path": "a, b.txt"}', new="word_count"),
    'please use the tool x__y with the arguments {"a": {"b": 1}}.': request("call", text='{"a": {"b": 1}}', new="x__y"),
    "call the tool clock": request("call", new="clock"),
    "replace foo with bar in a.txt": request("replace", "a.txt", text="foo", new="bar"),
    'replace "a b" with "c d" in `my file.txt`': request("replace", "my file.txt", text="a b", new="c d"),
    "change foo to bar in a.txt": request("replace", "a.txt", text="foo", new="bar"),
    "in a.txt, replace foo with bar": request("replace", "a.txt", text="foo", new="bar"),
    'edit a.txt: replace "x" with ""': request("replace", "a.txt", text="x"),
}


@for_each("text", PHRASINGS)
def test_phrasing_is_understood(text):
    assert parse(text) == [PHRASINGS[text]]


@for_each(
    ("text", "expected"),
    [
        (
            "List files here; read README.md; run `date`",
            [request("list"), request("read", "README.md"), request("run", text="date")],
        ),
        (
            "1. list files\n2. read a.txt\n- count the words in it",
            [request("list"), request("read", "a.txt"), request("count", "a.txt", units=("words",))],
        ),
        (
            "write notes.txt: hello, then read it",
            [request("write", "notes.txt", text="hello"), request("read", "notes.txt")],
        ),
        (
            "write a.py:\n```python\nprint(1)\n```\nthen run `python a.py`",
            [request("write", "a.py", text="print(1)\n"), request("run", text="python a.py")],
        ),
        ("run git status and list the files", [request("run", text="git status"), request("list")]),
        ("list src and search for x in it", [request("list", "src"), request("search", "src", text="x")]),
        (
            "dance, then list the files and tell me a joke",
            [request("unknown", text="dance"), request("list"), request("unknown", text="a joke")],
        ),
    ],
)
def test_sentence_with_several_requests_is_understood(text, expected):
    assert parse(text) == expected


@for_each(
    "text", ["What is the meaning of life", "run the tests", "delete x.txt", "write code with care", "make a poem"]
)
def test_what_no_phrase_fits_stays_as_it_was_written(text):
    assert [(each.kind, each.text) for each in parse(text)] == [("unknown", text)]


@pytest.mark.parametrize("text", ["hello", "Thank you very much!", "help", "What can you do?"])
def test_small_talk_is_no_request(text):
    assert parse(text) == []


def test_it_may_be_a_file_of_an_earlier_message():
    assert parse("count the words in it", "a.txt") == [request("count", "a.txt", units=("words",))]


def test_it_without_a_file_names_none():
    assert parse("count the words in it")[0].path is None


NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Co", "Cs", "Zl", "Zp"], exclude_characters='`"@'), min_size=1, max_size=40
).filter(lambda name: bool(name.strip()) and name not in ("it", "its", "that", "them", "there"))


@given(
    name=NAMES, phrase=st.sampled_from(["read {}", "list the files, show me {} and read b", "count the words in {}"])
)
@example("\u00fcber uns & co, then.txt", "read {}")
def test_quoted_name_survives_whatever_it_is(name, phrase):
    assert name in [each.path for each in parse(phrase.format(f'"{name}"'))]


KNOWN = (
    "list read show find search count run write replace files first last 5 lines words of in the it there "
    "and then because , ; : . ? ( ) a.txt *.py `ls` 'x y' \"q\" with to for by README ``` ' \" \n - 1. what is how many"
)


@given(st.lists(st.sampled_from(KNOWN.split(" ")), max_size=40).map(" ".join))
def test_no_mixture_of_the_words_it_knows_is_an_error(text):
    assert parse(text) == parse(text)


@given(st.text(max_size=200))
def test_no_text_is_an_error(text):
    assert parse(text) == parse(text)


@for_each("text", ["grep a and ", "write a.txt: x then ", "replace a with ", "`", "'a ", "'\"", "to in "])
def test_long_text_neither_nests_nor_stops_the_parser(text):
    assert parse(text * 500) == parse(text * 500)

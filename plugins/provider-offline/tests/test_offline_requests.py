"""What is understood: phrasings, names, "it", and that no text is an error."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_provider_offline._language import parse
from pi_provider_offline._requests import (
    CountFiles,
    CountIn,
    FindFiles,
    Help,
    ListFiles,
    Names,
    ReadEnd,
    ReadFile,
    Replace,
    Run,
    SearchText,
    Summarise,
    Unclear,
    Unknown,
    WriteFile,
    has_glob,
)

ALL = ("lines", "words", "characters")

PHRASINGS = {
    # list
    "list files": [ListFiles()],
    "LIST THE FILES HERE!": [ListFiles()],
    "ls": [ListFiles()],
    "ls -la src": [ListFiles("src")],
    "list all files": [ListFiles()],
    "list .": [ListFiles(".")],
    "list the files in ..": [ListFiles("..")],
    "Please list all the files in src/": [ListFiles("src/")],
    "Could you list the files in the docs folder?": [ListFiles("docs")],
    "list the contents of the src directory": [ListFiles("src")],
    "What files are in this directory?": [ListFiles()],
    'Which files are there in "my folder"?': [ListFiles("my folder")],
    "show me the files": [ListFiles()],
    "what's in src": [ListFiles("src")],
    "list the files in src, docs and tests": [ListFiles("src"), ListFiles("docs"), ListFiles("tests")],
    "list everything recursively": [FindFiles("*")],
    "list the python files in src": [FindFiles("*.py", "src")],
    # read
    "read README.md": [ReadFile("README.md")],
    "Read the file notes.txt.": [ReadFile("notes.txt")],
    "read notes": [ReadFile("notes")],
    "open `a b.txt`": [ReadFile("a b.txt")],
    "cat 'x y.txt' and \"z.txt\"": [ReadFile("x y.txt"), ReadFile("z.txt")],
    "show me the contents of pyproject.toml, please": [ReadFile("pyproject.toml")],
    "What is in README.md?": [ReadFile("README.md")],
    "what does README.md say?": [ReadFile("README.md")],
    "look at ~/notes.txt": [ReadFile("~/notes.txt")],
    "read @README.md": [ReadFile("README.md")],
    r"read a\ b.txt": [ReadFile("a b.txt")],
    "read \N{LEFT DOUBLE QUOTATION MARK}curly name.txt\N{RIGHT DOUBLE QUOTATION MARK}": [ReadFile("curly name.txt")],
    # part of a file
    "show the first line of a.txt": [ReadFile("a.txt", 1, 1)],
    "show first 3 lines of a.txt": [ReadFile("a.txt", 1, 3)],
    "what are the first ten lines of README.md?": [ReadFile("README.md", 1, 10)],
    "head -n 5 README.md": [ReadFile("README.md", 1, 5)],
    "show 4 lines of a.txt": [ReadFile("a.txt", 1, 4)],
    "print the last five lines of log.txt for me": [ReadEnd("log.txt", 5)],
    "tail -20 server.log": [ReadEnd("server.log", 20)],
    "show lines 3 to 7 of a.py": [ReadFile("a.py", 3, 5)],
    "show lines 10-20 of a.py and line 3 of b.py": [ReadFile("a.py", 10, 11), ReadFile("b.py", 3, 1)],
    # find
    "find README.md": [FindFiles("README.md")],
    "find *.py": [FindFiles("*.py")],
    "find all *.py files in src": [FindFiles("*.py", "src")],
    "find files named setup.cfg": [FindFiles("setup.cfg")],
    "find files ending in .toml": [FindFiles("*.toml")],
    "find all files whose name contains test in src": [FindFiles("*test*", "src")],
    "where is config.json?": [FindFiles("config.json")],
    "find readme": [FindFiles("*readme*")],
    "in src, find *.py": [FindFiles("*.py", "src")],
    # search
    "search for TODO": [SearchText("TODO")],
    'search for "foo bar" in src': [SearchText("foo bar", "src")],
    "grep TODO in src/": [SearchText("TODO", "src/")],
    'grep -rn "def main" .': [SearchText("def main", ".")],
    "grep -i hello notes.txt": [SearchText("hello", "notes.txt", ignore_case=True)],
    "search src for TODO": [SearchText("TODO", "src")],
    "look for hello world in README.md": [SearchText("hello world", "README.md")],
    "find files containing TODO": [SearchText("TODO")],
    "find TODO in a.py": [SearchText("TODO", "a.py")],
    "search for TODO and FIXME in src": [SearchText("TODO", "src"), SearchText("FIXME", "src")],
    "search for the word x in the python files ignoring case": [SearchText("x", ".", "*.py", ignore_case=True)],
    "search for the regex 'a.c' here": [SearchText("a.c", regex=True)],
    # count
    "count words in README.md": [CountIn("README.md", ("words",))],
    "count the lines and words of a.txt": [CountIn("a.txt", ("lines", "words"))],
    "count words, characters and lines in 'my file.txt'": [CountIn("my file.txt", ALL)],
    "how many lines does a.txt have?": [CountIn("a.txt", ("lines",))],
    "tell me how many words README.md has": [CountIn("README.md", ("words",))],
    "What is the word count of README.md?": [CountIn("README.md", ("words",))],
    "how long is a.txt?": [CountIn("a.txt", ALL)],
    "count the words in a.txt and the lines in b.txt": [CountIn("a.txt", ("words",)), CountIn("b.txt", ("lines",))],
    "how many files are here?": [CountFiles()],
    "count files in src": [CountFiles("src")],
    "how many python files are there?": [CountFiles(".", "*.py")],
    # run
    "run `ls -la`": [Run("ls -la")],
    "Run the command 'git status'.": [Run("git status")],
    "run: echo hi": [Run("echo hi")],
    "run echo hello, world": [Run("echo hello, world")],
    "run `pwd` in 'my src'": [Run("cd 'my src' && pwd")],
    "run git status and list the files": [Run("git status"), ListFiles()],
    "run:\n```sh\necho a\necho b\n```": [Run("echo a\necho b")],
    # write
    "write notes.txt: hello world": [WriteFile("notes.txt", "hello world")],
    "write notes.txt:hello world": [WriteFile("notes.txt", "hello world")],
    "write notes.txt: buy milk and read a book": [WriteFile("notes.txt", "buy milk and read a book")],
    'Write a file todo.md with the text "one, two"': [WriteFile("todo.md", "one, two")],
    "create a file called hello.txt containing Hello there": [WriteFile("hello.txt", "Hello there")],
    "create a.txt with the words of wisdom": [WriteFile("a.txt", "the words of wisdom")],
    "create a.txt with just one line: hi": [WriteFile("a.txt", "hi")],
    "create an empty file x.txt": [WriteFile("x.txt", "")],
    "save 'abc def' in the file out.txt": [WriteFile("out.txt", "abc def")],
    "write hello world to notes.txt": [WriteFile("notes.txt", "hello world")],
    "write notes.txt:\none\n  two": [WriteFile("notes.txt", "one\n  two")],
    'write notes.txt: "one\ntwo"': [WriteFile("notes.txt", "one\ntwo")],
    "write a.py:\n```python\nprint(1)\n```\nthen run `python a.py`": [
        WriteFile("a.py", "print(1)\n"),
        Run("python a.py"),
    ],
    # replace
    "replace foo with bar in a.txt": [Replace("a.txt", "foo", "bar")],
    'replace "a b" with "c d" in `my file.txt`': [Replace("my file.txt", "a b", "c d")],
    "change foo to bar in a.txt": [Replace("a.txt", "foo", "bar")],
    "in a.txt, replace foo with bar": [Replace("a.txt", "foo", "bar")],
    'edit a.txt: replace "x" with ""': [Replace("a.txt", "x", "")],
    "replace all occurrences of foo by bar in a.txt": [Replace("a.txt", "foo", "bar")],
    "replace foo in a.txt with bar": [Replace("a.txt", "foo", "bar")],
    "substitute bar for foo in a.txt": [Replace("a.txt", "foo", "bar")],
    # summarise
    "summarise README.md": [Summarise("README.md")],
    "Summarize the file docs/intro.md please": [Summarise("docs/intro.md")],
    "give me a short summary of README.md": [Summarise("README.md")],
    "what is README.md about?": [Summarise("README.md")],
    # neither
    "help": [Help()],
    "What can you do?": [Help()],
    "hello": [],
    "Thank you very much!": [],
}


@pytest.mark.parametrize("text", PHRASINGS, ids=str)
def test_phrasing_is_understood(text):
    assert parse(text) == PHRASINGS[text]


SEVERAL = {
    "List the files here, then show me the first 5 lines of README.md and count the words in it": [
        ListFiles(),
        ReadFile("README.md", 1, 5),
        CountIn("README.md", ("words",)),
    ],
    "List files here; read README.md; run `date`": [ListFiles(), ReadFile("README.md"), Run("date")],
    "Read a.txt. Then read b.txt. Finally, count the lines in b.txt.": [
        ReadFile("a.txt"),
        ReadFile("b.txt"),
        CountIn("b.txt", ("lines",)),
    ],
    "1. list files\n2. read a.txt\n- count its words": [ListFiles(), ReadFile("a.txt"), CountIn("a.txt", ("words",))],
    "write notes.txt: hello, then read it": [WriteFile("notes.txt", "hello"), ReadFile("notes.txt")],
    'write "hi" to a.txt and count the characters in it': [WriteFile("a.txt", "hi"), CountIn("a.txt", ("characters",))],
    "change foo to bar in a.txt and show me the result": [Replace("a.txt", "foo", "bar"), ReadFile("a.txt")],
    "read a.txt and b.txt and count the words in both": [
        ReadFile("a.txt"),
        ReadFile("b.txt"),
        CountIn("a.txt", ("words",)),
        CountIn("b.txt", ("words",)),
    ],
    "show me the first 2 lines of a.md, the last line of it and the number of words in it": [
        ReadFile("a.md", 1, 2),
        ReadEnd("a.md", 1),
        CountIn("a.md", ("words",)),
    ],
    "count the words in a.txt, show its last 2 lines and summarise its contents": [
        CountIn("a.txt", ("words",)),
        ReadEnd("a.txt", 2),
        Summarise("a.txt"),
    ],
    "write a.txt: x, then show me its contents": [WriteFile("a.txt", "x"), ReadFile("a.txt")],
    "read a.txt and search for x in it": [ReadFile("a.txt"), SearchText("x", "a.txt")],
    "list src and search for x there": [ListFiles("src"), SearchText("x", "src")],
    "list the files in src and count them": [ListFiles("src"), CountFiles("src")],
    "write x.md: # Title\n\nThen read it": [WriteFile("x.md", "# Title"), ReadFile("x.md")],
}


@pytest.mark.parametrize("text", SEVERAL, ids=str)
def test_sentence_with_several_requests_is_understood(text):
    assert parse(text) == SEVERAL[text]


@pytest.mark.parametrize(
    "text",
    [
        "What is the meaning of life?",
        "Show me the weather",
        "write me a poem",
        "run the tests",
        "show me how to dance",
        "delete x.txt",
        "append foo to x.txt",
        "save the changes to git",
        "make sure: everything works",
        "write code with care",
        "touch x.txt",
        "tell me a joke",
    ],
)
def test_what_no_rule_fits_stays_as_it_was_written(text):
    assert parse(text) == [Unknown(text.rstrip("?"))]


def test_understood_parts_stand_beside_what_was_not_understood():
    found = parse("dance, sing and list the files, then read a.txt and tell me a joke")

    assert found == [Unknown("dance, sing"), ListFiles(), ReadFile("a.txt"), Unknown("tell me a joke")]


def test_it_without_a_file_is_unclear():
    assert parse("count the words in it and list the files") == [Unclear("count the words in it"), ListFiles()]


def test_it_may_be_a_file_of_an_earlier_message():
    assert parse("count the words in it", Names(file="a.txt")) == [CountIn("a.txt", ("words",))]


TEMPLATES = [
    ("read {}", ReadFile),
    ("list the files, show me {} and summarise README.md", ReadFile),
    ("summarise {} please", Summarise),
    ("count the words in {}, then list files", lambda name: CountIn(name, ("words",))),
    ("write {}: text", lambda name: WriteFile(name, "text")),
    ('replace "a" with "b" in {} now', lambda name: Replace(name, "a", "b")),
    ("show the first 3 lines of {} and run `ls`", lambda name: ReadFile(name, 1, 3)),
]
QUOTES = ["``", '""', "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"]
NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters='`"@\N{RIGHT DOUBLE QUOTATION MARK}'),
    min_size=1,
    max_size=40,
).filter(lambda name: bool(name.strip()))


@given(name=NAMES, template=st.sampled_from(TEMPLATES), quotes=st.sampled_from(QUOTES))
@example("über uns & co, then.txt", TEMPLATES[0], QUOTES[0])
@example("it's.txt", TEMPLATES[1], QUOTES[1])
def test_quoted_name_survives_whatever_it_is(name, template, quotes):
    phrase, request = template

    found = parse(phrase.format(quotes[0] + name + quotes[1]))

    assert request(name) in found


@given(name=NAMES.filter(lambda name: not has_glob(name)))
def test_quoted_place_of_a_search_survives_unless_it_is_a_pattern(name):
    assert parse(f"search for 'x' in `{name}`") == [SearchText("x", name)]


KNOWN = (
    "list read show find search count run write replace summarise files first last 5 lines words of in the it there "
    "and then because , ; : . ? ( ) a.txt *.py `ls` 'x y' \"q\" with to for by README ``` ' \" \n - 1. what is how many"
)
WORDS = st.sampled_from(KNOWN.split(" "))


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_no_mixture_of_the_words_it_knows_is_an_error(text):
    assert parse(text) == parse(text)


@given(st.text(max_size=200))
def test_no_text_is_an_error(text):
    assert parse(text) == parse(text)


PARTS = {text: requests for text, requests in PHRASINGS.items() if requests and "\n" not in text and ":" not in text}


@given(st.lists(st.sampled_from([text for text in PARTS if not text.startswith("run ")]), min_size=1, max_size=6))
def test_requests_on_lines_of_their_own_are_all_understood(texts):
    assert parse("\n".join(texts)) == [request for text in texts for request in PARTS[text]]


@pytest.mark.parametrize("text", ["grep a and ", "write a.txt: x then ", "read it and ", "`", "'a ", "'\"", "because "])
def test_long_text_neither_nests_nor_stops_the_parser(text):
    assert parse(text * 2000) == parse(text * 2000)

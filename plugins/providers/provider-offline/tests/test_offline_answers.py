"""What is answered: requests go in, tools run on real files, and the text reports what came of each."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import ImageContent, TextContent, UserMessage
from pi_provider_offline.conversation import SIGNATURE

SEVEN = "read bash edit write grep find ls"
TEN_LINES = "".join(f"line {number} of ten\n" for number in range(1, 11))


@pytest.fixture
def project(bench):
    bench.write("README.md", "# Title\n\nFirst paragraph. It has two sentences. And a third.\n\n## Use\n\n- item\n")
    bench.write("notes.txt", TEN_LINES)
    bench.write("src/main.py", "import os\n\n\ndef main():\n    return 'TODO'\n")
    bench.write("my file.txt", "one two\nthree")
    return bench


@pytest.mark.parametrize("tools", ["read bash edit write", SEVEN, "bash", "read ls", "bash ls"])
async def test_list_first_lines_and_word_count_in_one_sentence(project, tools):
    answer = await project.ask(
        "List the files here, then show me the first 5 lines of README.md and count the words in it", tools
    )

    assert "The files here (4 entries):\n```\nREADME.md\nmy file.txt\nnotes.txt\nsrc/\n```" in answer
    assert (
        "The first 5 lines of README.md:\n"
        "```\n# Title\n\nFirst paragraph. It has two sentences. And a third.\n\n## Use\n```" in answer
    )
    assert "README.md has 15 words." in answer
    assert "more lines in file" not in answer
    assert answer.endswith(SIGNATURE)


@pytest.mark.parametrize("tools", [SEVEN, "read bash", "bash"])
@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("read notes.txt", f"notes.txt:\n```\n{TEN_LINES}```"),
        ("show the last line of notes.txt", "The last line of notes.txt:\n```\nline 10 of ten\n```"),
        ("show the last 2 lines of 'my file.txt'", "The last 2 lines of my file.txt:\n```\none two\nthree\n```"),
        ("show the first 20 lines of 'my file.txt'", "my file.txt has only 2 lines:\n```\none two\nthree\n```"),
        ("count lines, words and characters in 'my file.txt'", "my file.txt has 2 lines, 3 words and 13 characters."),
        ("how many lines does notes.txt have?", "notes.txt has 10 lines."),
        ("list the files in src", "The files in src (1 entry):\n```\nmain.py\n```"),
        ("what is in src?", "The files in src (1 entry):\n```\nmain.py\n```"),
        ("how many files are here?", "This folder has 3 files and 1 folder."),
        ("find *.py", "1 match for `*.py` here:\n```\nsrc/main.py\n```"),
        ("find files named nothing.at.all", "No files match `nothing.at.all` here."),
        ("search for TODO", "1 match for `TODO` here:\n```\n"),
        ("search for a.text", "No matches for `a.text` here."),
    ],
)
async def test_reading_and_looking_give_the_same_with_either_tool(project, tools, request_text, expected):
    assert expected in await project.ask(request_text, tools)


@pytest.mark.parametrize("tools", [SEVEN, "bash"])
async def test_file_is_written_exactly_as_requested(bench, tools):
    answer = await bench.ask("write 'new folder/a b.txt': \"$HOME `x` 'y'\"", tools)

    assert (bench.folder / "new folder/a b.txt").read_text() == "$HOME `x` 'y'"
    assert "Wrote new folder/a b.txt (1 line, 13 characters)." in answer


async def test_text_is_replaced(project):
    answer = await project.ask("replace 'three' with \"3 'x'\" in `my file.txt`")

    assert (project.folder / "my file.txt").read_text() == "one two\n3 'x'"
    assert "Replaced 1 occurrence: 'three' with \"3 'x'\" in my file.txt." in answer


async def test_every_occurrence_is_replaced(project):
    answer = await project.ask("replace ten with 10 in notes.txt and show me the last line of it")

    assert (project.folder / "notes.txt").read_text() == TEN_LINES.replace("ten", "10")
    assert "Replaced 10 occurrences" in answer
    assert "line 10 of 10" in answer


async def test_file_that_is_no_utf8_is_not_rewritten(bench):
    (bench.folder / "a.txt").write_bytes(b"x x \xff")
    bench.refuse = lambda call: "Found 2 occurrences of the text in a.txt." if call.name == "edit" else None

    answer = await bench.ask("replace x with y in a.txt")

    assert (bench.folder / "a.txt").read_bytes() == b"x x \xff"
    assert "I could not replace 'x' with 'y' in a.txt: Found 2 occurrences" in answer


async def test_a_text_that_does_not_occur_is_reported(project):
    answer = await project.ask("replace nowhere with there in notes.txt")

    assert "I could not replace 'nowhere' with 'there' in notes.txt: Could not find the exact text" in answer


async def test_command_output_and_exit_code_are_reported(bench):
    answer = await bench.ask("run `echo hi; exit 3`, run `true`")

    assert "`echo hi; exit 3` failed with exit code 3; its output:\n```\nhi\n```" in answer
    assert "`true` ran and printed nothing." in answer


async def test_refused_command_is_reported_and_not_tried_another_way(bench):
    bench.refuse = lambda call: "Deleting trees is not allowed here."

    answer = await bench.ask("run `rm -rf build`")

    assert "I could not run `rm -rf build`: Deleting trees is not allowed here." in answer
    assert len(bench.calls) == 1


async def test_missing_file_is_reported_and_the_rest_is_answered(project):
    answer = await project.ask("read gone.txt and count the lines in notes.txt")

    assert "I could not read gone.txt: ENOENT: no such file or directory" in answer
    assert "notes.txt has 10 lines." in answer


@pytest.mark.parametrize(
    ("request_text", "needed"),
    [("list the files", "`ls` or `bash`"), ("run `make`", "`bash`"), ("write a.txt: x", "`write` or `bash`")],
)
async def test_missing_tool_is_named(bench, request_text, needed):
    assert f"none of the tools I was given can do it (needs {needed})" in await bench.ask(request_text, "grep")


async def test_a_tool_that_is_there_and_cannot_do_it_is_not_named_as_needed(bench):
    bench.write("long.txt", "line\n" * 3000)

    assert "can do it (needs `bash`)" in await bench.ask("show the last line of long.txt", "read")
    assert "can do it (needs `bash`)" in await bench.ask("count the words in long.txt", "read")


async def test_long_file_is_shown_in_part_and_counted_whole(bench):
    bench.write("long.txt", "word\n" * 5000)

    answer = await bench.ask("read long.txt and count the words in it")

    assert "The file continues at line 2001." in answer
    assert "long.txt has 5000 words." in answer


async def test_listing_that_a_tool_cut_says_that_there_may_be_more(bench):
    for number in range(501):
        bench.write(f"{number}.txt", "")

    answer = await bench.ask("list the files and count the files", "ls")

    assert "There may be more: 500 entries limit reached." in answer
    assert "This folder has at least 500 files" in answer


async def test_binary_file_is_not_shown(bench):
    (bench.folder / "a.bin").write_bytes(b"\0\1")

    assert "I could not read a.bin: it cannot be shown as text" in await bench.ask("read a.bin")


async def test_fence_is_longer_than_any_in_the_file(bench):
    bench.write("a.md", "```\ncode\n```\n````\nmore\n````\n")

    assert "a.md:\n`````\n```\ncode\n```\n````\nmore\n````\n`````" in await bench.ask("read a.md")


async def test_empty_file_and_folder_are_reported(bench):
    bench.write("sub/empty.txt", "")
    (bench.folder / "none").mkdir()

    answer = await bench.ask("read sub/empty.txt, count the words in it and list the files in none", SEVEN)

    assert "sub/empty.txt is empty." in answer
    assert "sub/empty.txt has 0 words." in answer
    assert "none is empty." in answer


async def test_what_is_not_understood_is_quoted_with_the_abilities(bench):
    answer = await bench.ask("What is the capital of France?")

    assert "I did not understand \N{LEFT DOUBLE QUOTATION MARK}What is the capital of France" in answer
    assert "I can list files, read a file" in answer


async def test_images_are_not_pretended_to_be_seen(bench):
    bench.messages.append(UserMessage(content=(TextContent("list the files"), ImageContent("aGk=", "image/png"))))

    assert "I cannot look at the images that came with your message." in await bench.go_on()


@settings(max_examples=15)
@given(
    text=st.text(st.sampled_from("ab \n\t\r`'\"\N{LATIN SMALL LETTER E WITH ACUTE}[]$"), max_size=60),
    tools=st.sampled_from(["read write", "bash"]),
)
def test_file_is_counted_as_it_is(make_bench, text, tools):
    bench = make_bench()
    bench.write("a b.txt", text)

    answer = asyncio.run(bench.ask("count the words and characters in 'a b.txt'", tools))

    words, characters = len(text.split()), len(text)
    assert f"a b.txt has {_number(words, 'word')} and {_number(characters, 'character')}." in answer


def _number(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


async def test_any_tool_can_be_called_by_its_name(project):
    assert await project.ask('call read with {"path": "my file.txt"}') == (
        f"`read` answered:\n```\none two\nthree\n```\n\n{SIGNATURE}"
    )
    assert "I could not call `tides`: I was given no such tool (I have `read`, `bash`" in await project.ask(
        'call tides with {"port": "Brest"}'
    )
    assert "I could not call `read`: its arguments are not JSON (" in await project.ask("call read with {path}")

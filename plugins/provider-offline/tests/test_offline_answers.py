"""What is answered: requests go in, tools run on real files, and the text tells what came of each."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import UserMessage
from pi_provider_offline._answer import SIGNATURE

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

    assert "(4 entries)" in answer
    assert "README.md\nmy file.txt\nnotes.txt\nsrc/" in answer
    assert (
        "The first 5 lines of README.md:\n"
        "```\n# Title\n\nFirst paragraph. It has two sentences. And a third.\n\n## Use\n```" in answer
    )
    assert "README.md has 15 words." in answer
    assert "more lines in file" not in answer
    assert answer.endswith(SIGNATURE)


async def test_independent_requests_go_out_in_one_turn(project):
    await project.ask("List the files here, show the first 5 lines of README.md and count the words in it", SEVEN)

    assert [[call.name for call in turn] for turn in project.turns] == [["ls", "read", "read"]]


@pytest.mark.parametrize("tools", [SEVEN, "read", "bash"])
@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("read notes.txt", f"notes.txt:\n```\n{TEN_LINES}```"),
        ("show line 3 of notes.txt", "notes.txt, line 3:\n```\nline 3 of ten\n```"),
        ("show lines 3 to 4 of notes.txt", "notes.txt, lines 3 to 4:\n```\nline 3 of ten\nline 4 of ten\n```"),
        ("show the last line of notes.txt", "The last line of notes.txt:\n```\nline 10 of ten\n```"),
        ("show the last 2 lines of 'my file.txt'", "The last 2 lines of my file.txt:\n```\none two\nthree\n```"),
        ("show the first 20 lines of 'my file.txt'", "my file.txt has only 2 lines:\n```\none two\nthree\n```"),
        ("count lines, words and characters in 'my file.txt'", "my file.txt has 2 lines, 3 words and 13 characters."),
        ("how many lines does notes.txt have?", "notes.txt has 10 lines."),
        ("summarise README.md", "- Title: Title\n- Headings: Use\n- It begins: First paragraph. It has two sentences."),
    ],
)
async def test_reading_and_counting_give_the_same_with_either_tool(project, tools, request_text, expected):
    assert expected in await project.ask(request_text, tools)


@pytest.mark.parametrize("tools", [SEVEN, "bash"])
@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("list the files in src", "The files in src (1 entry):\n```\nmain.py\n```"),
        ("how many files are here?", "This folder has 3 files and 1 folder."),
        ("find *.py", "1 match for `*.py` here:\n```\nsrc/main.py\n```"),
        ("how many python files are there?", "1 file matches `*.py` here."),
        ("find files named nothing.at.all", "No files match `nothing.at.all` here."),
        ("search for TODO", "1 match for `TODO` here:\n```\n"),
        ("search for todo in src ignoring case", "1 match for `todo` in src:\n```\n"),
        ("search for a.text", "No matches for `a.text` here."),
        ("search for the regex 'l.ne 1' in notes.txt", "2 matches for `l.ne 1` in notes.txt:\n```\n"),
    ],
)
async def test_looking_around_gives_the_same_with_either_tool(project, tools, request_text, expected):
    assert expected in await project.ask(request_text, tools)


@pytest.mark.parametrize("tools", [SEVEN, "bash"])
async def test_file_is_written_exactly_as_said(bench, tools):
    answer = await bench.ask("write 'new folder/it\N{RIGHT SINGLE QUOTATION MARK}s.txt': \"$HOME `x` 'y'\"", tools)

    assert (bench.folder / "new folder/it\N{RIGHT SINGLE QUOTATION MARK}s.txt").read_text() == "$HOME `x` 'y'"
    assert "Wrote new folder/it\N{RIGHT SINGLE QUOTATION MARK}s.txt (1 line, 13 characters)." in answer


@pytest.mark.parametrize("tools", [SEVEN, "edit", "read write", "bash"])
async def test_text_is_replaced(project, tools):
    answer = await project.ask("replace 'three' with \"3 'x'\" in `my file.txt`", tools)

    assert (project.folder / "my file.txt").read_text() == "one two\n3 'x'"
    assert "Replaced 1 occurrence" in answer


async def test_every_occurrence_is_replaced(project):
    answer = await project.ask("replace ten with 10 in notes.txt and show me the last line of it")

    assert (project.folder / "notes.txt").read_text() == TEN_LINES.replace("ten", "10")
    assert "Replaced 10 occurrences" in answer
    assert "line 10 of 10" in answer


async def test_several_occurrences_are_an_error_where_the_file_cannot_be_rewritten(project):
    answer = await project.ask("replace ten with 10 in notes.txt", "edit")

    assert "Found 10 occurrences of the text in notes.txt" in answer
    assert (project.folder / "notes.txt").read_text() == TEN_LINES


async def test_file_that_is_not_utf8_is_not_rewritten(bench):
    file = bench.folder / "latin.txt"
    file.write_bytes(b"caf\xe9 a a")

    answer = await bench.ask("replace a with b in latin.txt", "read write")

    assert "not UTF-8" in answer
    assert file.read_bytes() == b"caf\xe9 a a"


async def test_command_output_and_exit_code_are_told(bench):
    answer = await bench.ask("run `echo hi`, run `echo oops; exit 3` and run `true`")

    assert "`echo hi` ran; its output:\n```\nhi\n```" in answer
    assert "`echo oops; exit 3` failed with exit code 3; its output:\n```\noops\n```" in answer
    assert "`true` ran and printed nothing." in answer


async def test_notice_on_cut_command_output_stays(bench):
    answer = await bench.ask("run `seq 1 5000`")

    assert "[Showing lines 3002-5001 of 5001. Full output: /tmp/pi-bash-1.log]" in answer


@pytest.mark.parametrize("tools", ["read", "read bash", "bash"])
@pytest.mark.parametrize("end", ["\n", ""])
async def test_counts_are_right_beyond_what_one_read_shows(bench, tools, end):
    text = "\n".join(f"{number} two three" for number in range(4500)) + end
    bench.write("long.txt", text)

    answer = await bench.ask("count the lines, words and characters in long.txt", tools)

    assert f"long.txt has 4500 lines, 13500 words and {len(text)} characters." in answer


@pytest.mark.parametrize("tools", ["read", "bash"])
async def test_counts_are_right_where_reads_are_cut_by_bytes(bench, tools):
    text = "".join(f"{'wörd ' * 200}{number}\n" for number in range(300))
    bench.write("wide.txt", text)

    answer = await bench.ask("how many words and characters are in wide.txt", tools)

    assert f"wide.txt has {201 * 300} words and {len(text)} characters." in answer


@pytest.mark.parametrize("tools", ["read", "read bash", "bash"])
async def test_end_of_a_long_file_is_found(bench, tools):
    bench.write("long.txt", "".join(f"{number}\n" for number in range(5000)))

    answer = await bench.ask("show the last 3 lines of long.txt", tools)

    assert "The last 3 lines of long.txt:\n```\n4997\n4998\n4999\n```" in answer


@pytest.mark.parametrize("tools", ["read", "bash"])
async def test_many_first_lines_are_read_page_by_page(bench, tools):
    bench.write("long.txt", "".join(f"{number}\n" for number in range(5000)))

    answer = await bench.ask("show the first 1999 lines of long.txt and lines 2500 to 2502 of it", tools)

    assert "\n1998\n```" in answer
    assert "long.txt, lines 2500 to 2502:\n```\n2499\n2500\n2501\n```" in answer


async def test_whole_long_file_is_shown_as_far_as_one_read_goes(bench):
    bench.write("long.txt", "".join(f"{number}\n" for number in range(5000)))

    answer = await bench.ask("read long.txt")

    assert "\n1999\n```\nThe file goes on at line 2001." in answer
    assert len(bench.calls) == 1


async def test_quoted_notice_at_the_end_of_a_file_counts_as_content(bench):
    text = "Say this:\n\n[12 more lines in file. Use offset=6 to continue.]"
    bench.write("doc.txt", text)

    answer = await bench.ask("count the words in doc.txt and read it", "read")

    assert f"doc.txt has {len(text.split())} words." in answer
    assert text in answer


async def test_line_too_long_for_read_is_counted_by_bash_or_said(bench):
    bench.write("blob.txt", "x" * 60_000)

    with_bash = await bench.ask("count the characters in blob.txt", "read bash")
    without = await bench.ask("count the characters in blob.txt", "read")

    assert "blob.txt has 60000 characters." in with_bash
    assert "I could not count the characters in blob.txt" in without
    assert "exceeds 50.0KB limit" in without


async def test_binary_file_is_not_counted_as_its_notice(bench):
    (bench.folder / "blob.bin").write_bytes(b"\0\1 \2")

    answer = await bench.ask("read blob.bin and count the words in it", "read")

    assert answer.count("cannot be shown as text (Binary file") == 2


async def test_counting_reads_what_was_cut_from_a_listing(bench):
    for number in range(600):
        bench.write(f"{number:03}.txt", "")

    answer = await bench.ask("count the files and list them", "ls")

    assert "This folder has 600 files and 0 folders." in answer


@pytest.mark.parametrize("tools", ["read", "bash"])
@pytest.mark.parametrize(
    ("text", "request_text", "expected"),
    [
        ("\nsecond\n", "show the first line of a.txt", "The first line of a.txt:\n```\n\n```"),
        ("only\n", "show the first 2 lines of a.txt", "a.txt has only 1 line:\n```\nonly\n```"),
        ("one\n\n", "show the first 2 lines of a.txt", "The first 2 lines of a.txt:\n```\none\n\n```"),
        ("one\n\nthree\n", "show line 2 of a.txt", "a.txt, line 2:\n```\n\n```"),
        ("one\n\n", "show the last line of a.txt", "The last line of a.txt:\n```\n\n```"),
        ("one", "show the last 5 lines of a.txt", "The last 5 lines of a.txt:\n```\none\n```"),
        ("", "show the last line of a.txt", "a.txt is empty."),
        ("one\n", "show line 2 of a.txt", "a.txt has nothing from line 2 on."),
    ],
)
async def test_empty_lines_and_short_files_are_shown_for_what_they_are(bench, tools, text, request_text, expected):
    bench.write("a.txt", text)

    assert expected in await bench.ask(request_text, tools)


async def test_source_code_is_summarised_by_its_definitions(project):
    answer = await project.ask("summarise src/main.py")

    assert "not written by a language model" in answer
    assert "- First line: import os\n- Definitions: def main" in answer
    assert "It begins" not in answer


@pytest.mark.parametrize("tools", ["read", "bash"])
async def test_summary_of_a_long_file_says_what_it_left_out(bench, tools):
    bench.write("long.md", "# Title\n\nIntroduction.\n" + "word " * 10 * 1000 + "\n" + "line\n" * 3000)

    answer = await bench.ask("summarise long.md", tools)

    assert "only its first" in answer
    assert "- It begins: Introduction." in answer


async def test_missing_file_is_told_and_the_rest_is_answered(project):
    answer = await project.ask("count the words in nope.txt and in notes.txt, then read nope.txt")

    assert "I could not count the words in nope.txt: ENOENT: no such file or directory" in answer
    assert "I could not read nope.txt: ENOENT" in answer

    assert "notes.txt has 40 words." in await project.ask("count the words in notes.txt")


async def test_reason_of_a_blocked_call_is_told_and_not_worked_around(project):
    project.refuse = lambda call: "Reading is not allowed on Sundays." if call.name == "read" else None

    answer = await project.ask("read notes.txt and run `echo hi`")

    assert "I could not read notes.txt: Reading is not allowed on Sundays." in answer
    assert "`echo hi` ran" in answer
    assert [call.name for call in project.calls] == ["read", "bash"]


@pytest.mark.parametrize(
    ("request_text", "needed"),
    [
        ("list the files", "`ls` or `bash`"),
        ("read a.txt", "`read` or `bash`"),
        ("run `ls`", "`bash`"),
        ("count the words in a.txt", "`read` or `bash`"),
        ("replace a with b in a.txt", "`edit` or `read` and `write` or `bash`"),
        ("search for x", "`grep` or `bash`"),
    ],
)
async def test_missing_tool_is_named(bench, request_text, needed):
    answer = await bench.ask(request_text, "")

    assert "none of the tools I was given can do it" in answer
    assert f"(needs {needed})" in answer
    assert bench.calls == []


async def test_tools_are_not_used_when_the_request_forbids_them(bench):
    question = UserMessage(content="read a.txt")

    message = await bench.answer_once("read bash", [question], tool_choice="none")

    assert "needs `read` or `bash`" in message.text


async def test_unknown_request_is_quoted_and_the_rest_is_done(project):
    answer = await project.ask("dance for me, and count the lines in notes.txt")

    assert "notes.txt has 10 lines." in answer
    assert "I did not understand \N{LEFT DOUBLE QUOTATION MARK}dance for me\N{RIGHT DOUBLE QUOTATION MARK}" in answer
    assert "rule-based stand-in, not a language model" in answer
    assert "I can list files" in answer


@pytest.mark.parametrize("text", ["hello", "help", "", "???", "what can you do?"])
async def test_talk_without_a_request_gets_what_can_be_asked(bench, text):
    assert "I can list files" in await bench.ask(text)


async def test_content_with_fences_is_shown_whole(bench):
    bench.write("a.md", "```\ncode\n```\n````\nmore\n````\n")

    answer = await bench.ask("read a.md")

    assert "a.md:\n`````\n```\ncode\n```\n````\nmore\n````\n`````" in answer


async def test_empty_file_and_folder_are_told(bench):
    bench.write("sub/empty.txt", "")

    answer = await bench.ask("read sub/empty.txt, count the words in it, summarise it and find *.py", SEVEN)

    assert answer.count("sub/empty.txt is empty.") == 2
    assert "sub/empty.txt has 0 words." in answer


@settings(max_examples=15)
@given(
    text=st.text(st.sampled_from("ab \n\t\r`'\"\N{LATIN SMALL LETTER E WITH ACUTE}[]$"), max_size=60),
    tools=st.sampled_from(["read write", "bash"]),
)
def test_written_text_is_read_and_counted_as_it_was(make_bench, text, tools):
    bench = make_bench()
    bench.write("a b.txt", text)

    answer = asyncio.run(bench.ask("count the characters and words in 'a b.txt'", tools))

    words, characters = len(text.split()), len(text)
    assert f"a b.txt has {_number(words, 'word')} and {_number(characters, 'character')}." in answer


def _number(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


async def test_link_that_leads_to_itself_is_counted_as_a_file(bench):
    (bench.folder / "loop").symlink_to("loop")
    (bench.folder / "sub").mkdir()
    (bench.folder / "link").symlink_to("sub")

    answer = await bench.ask("count the files", "bash")

    assert "This folder has 1 file and 2 folders." in answer

"""What a file may hold that is not a session, or not quite one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
import pytest

from pi_core import PluginHost, SessionManager, Settings
from pi_hookspecs import UserError
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.rare_entries import CompactionEntry, EditedContent, LabelEntry, UnknownEntry

HEADER = b'{"type":"session","version":3,"id":"h","timestamp":"2026-02-03T04:05:06.789Z","cwd":"/c"}\n'


@pytest.mark.parametrize(
    "content",
    [b"garbage\n", b"\x00" * 64, b"\n\n\n", b'{"type":"message","id":"a","parentId":null}\n', b"42\n", b"[]\n",
     b'{"type":"session","id":7}\n', b'{"type":"session","id":"h"', os.urandom(2000)],
    ids=["text", "zeros", "blank", "no header", "number", "array", "id is not text", "torn header", "random"],
)  # fmt: skip
def test_what_is_no_session_is_refused_and_left_alone(content, store, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)

    with pytest.raises(UserError) as refused:
        store.open(str(path))
    assert str(refused.value) == f"Session file is not a valid pi session: {path}"
    assert path.read_bytes() == content


def test_a_directory_is_refused(store, tmp_path):
    with pytest.raises(UserError, match="is a directory"):
        store.open(str(tmp_path))


def test_a_pipe_is_refused_at_once(store, tmp_path):
    os.mkfifo(tmp_path / "s.jsonl")

    with pytest.raises(UserError, match="It is not a file"):
        store.open(str(tmp_path / "s.jsonl"))


def test_a_header_alone_is_a_session(store, write):
    assert len(store.open(write()).entries) == 0


def test_a_short_header_is_a_header(store, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"session","version":3,"id":"h"}\n')

    header = store.open(str(path)).header

    assert (header.id, header.cwd, header.timestamp) == ("h", "", "")


def test_fields_of_other_headers_are_kept(store, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER[:-2] + b',"provider":"p","modelId":"m","thinkingLevel":"high","branchedFrom":"/b.jsonl"}\n')

    header = store.open(str(path)).header

    assert header.parent_session == "/b.jsonl"
    assert header.extra == {"provider": "p", "modelId": "m", "thinkingLevel": "high"}


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\n\r\n", b"not json\n"], ids=["BOM", "blank", "noise"])
def test_a_header_may_have_something_before_it(start, store, tmp_path, line):
    path = tmp_path / "s.jsonl"
    path.write_bytes(start + HEADER + orjson.dumps(line("a")) + b"\n")

    session = store.open(str(path))

    assert session.entries.index.ids == ["a"]
    assert len(session.notices) == (start == b"not json\n")


@pytest.mark.parametrize("usual", [True, False], ids=["usual keys", "other keys"])
def test_line_ends_of_other_systems_and_blank_lines_do_no_harm(usual, store, tmp_path, line):
    entries = [line("a"), line("b", "a")]
    if not usual:
        entries = [dict(reversed(list(entry.items()))) for entry in entries]
    rows = [HEADER.strip(), *map(orjson.dumps, entries)]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\r\n\r\n  \n".join(rows) + b"\r\n")

    session = store.open(str(path))

    assert session.entries.index.ids == ["a", "b"]
    assert [entry.message.text for entry in session.entries] == ["text", "text"]
    assert session.notices == []


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c", "nul \0 here", "\x85\x0b\x0c", "😀 é", "\ud83d", '{"type":"session"}\n'], ids=ascii
)
def test_any_text_comes_back(text, store, header, user_entry):
    session = store.create(header())
    session.append([user_entry("a", None, text), user_entry("b", "a")])

    again = store.open(session.reference)

    assert [entry.message.text for entry in again.entries] == [text, "text"]


def test_what_orjson_refuses_and_javascript_reads_is_read(store, write, line):
    rows = [
        b'{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"x","data":"\\ud83d"}',
        b'{"type":"custom","id":"b","parentId":"a","timestamp":"t","customType":"x","data":123456789012345678901234567890}',
        b'{"type":"custom","id":"c","parentId":"b","timestamp":"t","customType":"x","data":"\xff\xfe"}',
        line("d", "c"),
    ]

    entries = store.open(write(*rows)).entries

    assert [entry.data for entry in list(entries)[:3]] == ["\ud83d", 1.2345678901234568e29, "\ufffd\ufffd"]


def test_damage_in_the_middle_is_left_out_with_a_notice(store, write, line):
    path = write(line("a"), b'{"type":"message","id":"x","par', b"[1]", b'{"id":"y"}', line("b", "a"), line("c", "b"))
    before = Path(path).read_bytes()

    session = store.open(path)

    assert session.entries.index.ids == ["a", "b", "c"]
    assert [notice.split(" of ")[0] for notice in session.notices] == ["Line 3", "Line 4", "Line 5"]
    assert "it is not JSON" in session.notices[0]
    assert "it has no type" in session.notices[2]
    assert Path(path).read_bytes() == before


def test_many_damaged_lines_are_summed_up(store, write, line):
    session = store.open(write(*[b"x"] * 50, line("a")))

    assert session.notices[-1].startswith("47 more lines of ")
    assert len(session.notices) == 4


def test_damage_that_shows_on_use_is_an_entry_of_its_own(store, write, line):
    hidden = b'{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":}}'
    unfit = b'{"type":"model_change","id":"c","parentId":"b","timestamp":"t","provider":["no text"],"modelId":"m"}'

    session = store.open(write(line("a"), hidden, unfit, line("d", "c")))

    second, third = session.entries[1], session.entries[2]
    assert isinstance(second, UnknownEntry)
    assert isinstance(third, UnknownEntry)
    assert [(each.type, each.id, each.parent_id) for each in (second, third)] == [
        ("damaged", "b", "a"),
        ("damaged", "c", "b"),
    ]
    assert second.extra["line"] == 3
    assert "provider" in third.extra["reason"]
    assert session.entries[3].message.text == "text"


def test_damage_found_on_use_is_reported_then_and_once(store, write, line):
    hidden = [
        b'{"type":"message","id":"h%d","parentId":"a","timestamp":"t","message":{"role":}}' % each for each in range(9)
    ]
    session = store.open(write(line("a"), *hidden, line("d", "a")))
    before = list(session.notices)

    for _ in range(2):
        list(session.entries)

    assert before == []
    assert [each.partition(" of ")[0] for each in session.notices] == ["Line 3", "Line 4", "Line 5", "More lines"]
    assert "was left out: Expecting value" in session.notices[0]
    assert "pi sessions fsck" in session.notices[3]


def test_a_message_is_read_without_its_entry_where_the_line_is_as_pi_writes_it(store, write, line):
    as_ever = line("a")
    more = {**line("b", "a"), "new": 1}
    hidden = b'{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":}}'
    short = {**line("d", "c"), "message": {"role": "user", "content": "when"}}

    entries = store.open(write(as_ever, more, hidden, short)).entries

    assert entries.message(0) == entries[0].message
    assert [entries.message(number) for number in (1, 2, 3)] == [None, None, None]


def test_a_raw_control_character_is_damage_at_its_place(store, write, line):
    session = store.open(write(line("a"), b'{"type":"custom","id":"b\x00"}', line("c", "a")))

    assert session.notices[0].endswith("was left out: it is not JSON: Invalid control character at character 25 of 27.")


def test_the_last_line_is_proven_when_a_file_is_opened(store, write, line):
    session = store.open(write(line("a"), b'{"type":"message","id":"b","parentId":"a","timestamp":}'))

    assert session.entries.index.ids == ["a"]


def test_a_torn_last_line_stays_and_keeps_to_itself(store, write, line, user_entry):
    torn = b'{"type":"message","id":"b","parentId":"a","timest'
    path = write(line("a"), torn, end="")
    session = store.open(path)
    session.append([user_entry("c", "a")])

    assert "was not completely written" in session.notices[0]
    assert Path(path).read_bytes().split(b"\n")[2] == torn
    assert store.open(path).entries.index.ids == ["a", "c"]


def test_a_last_line_without_a_newline_is_an_entry(store, write, line, user_entry):
    path = write(line("a"), line("b", "a"), end="")
    session = store.open(path)
    session.append([user_entry("c", "b")])

    assert store.open(path).entries.index.ids == ["a", "b", "c"]
    assert session.notices == []


def test_zeros_that_a_power_failure_left_hide_no_entry(store, write, line):
    path = write(line("a"), b"\0" * 100 + orjson.dumps(line("b", "a")), b"\0" * 4096)

    session = store.open(path)

    assert session.entries.index.ids == ["a", "b"]
    assert session.entries[1].message.text == "text"


def test_a_newer_version_is_read_with_a_notice(store, tmp_path, line):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        HEADER.replace(b"3", b"4", 1)
        + b'{"type":"hologram","id":"a","parentId":null,"x":1}\n'
        + orjson.dumps(line("b", "a"))
    )

    session = store.open(str(path))

    assert session.header.version == 4
    assert [entry.type for entry in session.entries] == ["hologram", "message"]
    assert "newer pi (version 4)" in session.notices[0]


@pytest.mark.parametrize(
    "version", [b'"3"', b"NaN", b"1e999", b"null", b"[]", b"3.5"], ids=lambda version: version.decode()
)
def test_a_version_that_is_none_counts_as_todays(version, store, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER.replace(b":3,", b":" + version + b","))

    assert store.open(str(path)).header.version == 3


def test_ids_that_are_missing_are_made_and_stay_the_same(store, write, user_entry):
    rows = [{"type": "custom", "timestamp": "t", "customType": "x"}] * 3
    path = write(*rows)
    session = store.open(path)
    ids = list(session.entries.index.ids)
    session.append([user_entry("d", ids[-1])])
    session.close()

    again = store.open(path)

    assert len(set(ids)) == 3
    assert again.entries.index.ids == [*ids, "d"]
    assert again.entries.index.parent_ids == [None, *ids]
    assert [entry.id for entry in again.entries] == [*ids, "d"]


def test_duplicates_cycles_and_missing_parents_are_handed_on(store, write, line):
    rows = [line("a", "b"), line("b", "a"), line("b", "nowhere"), line("c", "c")]

    session = store.open(write(*rows))

    assert session.entries.index.ids == ["a", "b", "b", "c"]
    assert session.entries.index.parent_ids == ["b", "a", "nowhere", "c"]
    assert session.notices == []


def test_forms_of_other_programs_are_read(store, write, line):
    rows = [
        line("a"),
        {"type": "message", "id": "r", "parentId": "a", "timestamp": "t",
         "message": {"role": "toolResult", "tool_use_id": "call", "content": [], "timestamp": 5}},
        {"type": "branch", "id": "b", "parentId": "r", "label": "Other way"},
        {"type": "compaction", "id": "c", "parentId": "r", "timestamp": "t", "summary": "s", "firstKeptId": "a",
         "tokensBefore": 9},
        line("d", "c"),
    ]  # fmt: skip

    session = store.open(write(*rows))
    _, result, branch, compaction, _ = session.entries

    assert isinstance(result, MessageEntry)
    assert (result.message.tool_call_id, result.message.tool_name) == ("call", "")
    assert branch == LabelEntry(id="b", parent_id="r", timestamp="", target_id="r", label="Other way")
    assert session.entries.index.types[2] == "label"
    assert isinstance(compaction, CompactionEntry)
    assert compaction.first_kept_entry_id == "a"


@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
@pytest.mark.parametrize("content", [{}, {"content": None}], ids=["missing", "null"])
def test_a_message_without_content_is_an_empty_one(store, write, role, content):
    record = {"role": role, "toolCallId": "c", "toolName": "t", "timestamp": 5, **content}

    session = store.open(write({"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": record}))

    assert session.entries[0].message.content == ()


@pytest.mark.parametrize("replacement", ["short", {"content": "short"}], ids=["alone", "as_written"])
def test_an_edit_displays_the_new_content(store, write, line, replacement):
    edit = {"type": "context_edit", "id": "e", "parentId": "a", "timestamp": "t", "targetId": "a"}

    session = store.open(write(line("a"), {**edit, "replacement": replacement}))

    assert session.entries[1].replacement == EditedContent("short")


def test_a_very_long_line_is_read(store, write, line):
    session = store.open(write(line("a", None, "x" * 20_000_000), line("b", "a")))

    assert len(session.entries[0].message.text) == 20_000_000
    assert session.entries[1].message.text == "text"


def test_nesting_without_end_is_damage(store, write, line):
    deep = (
        b'{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"x","data":'
        + b"[" * 9999
        + b"]" * 9999
        + b"}"
    )

    assert store.open(write(deep, line("b", "a"))).entries[0].type == "damaged"


PROGRAM = """
import os, sys
from pathlib import Path
from pi_hookspecs import UserError
from pi_hookspecs.rare_entries import CustomEntry
from pi_hookspecs.session_store import SessionPlace
from pi_session_jsonl.store import JsonlSessionStore
folder = Path(sys.argv[1])
store = JsonlSessionStore(SessionPlace(agent_dir=folder / "agent"))
for file in ("fixed", "old2"):  # imports what nobody may not
    session = store.open(str(folder / f"{file}.jsonl"))
    list(session.entries)
    session.close()
os.setgid(65534)
os.setuid(65534)
try:
    store.open(str(folder / "secret.jsonl"))
except UserError as error:
    print(error)
session = store.open(str(folder / "fixed.jsonl"))
print(session.notices[0], [entry.id for entry in session.entries])
try:
    session.append([CustomEntry(id="b", parent_id="a", timestamp="t", custom_type="x")])
except OSError as error:
    print(type(error).__name__, error.filename)
old = store.open(str(folder / "old.jsonl"))
print(old.notices[0], old.header.version, len(old.entries))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may do less")
def test_missing_permissions_are_reported_and_harm_nothing(line):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for file, mode in (("secret", 0o600), ("fixed", 0o644), ("old", 0o644), ("old2", 0o644)):
            start = HEADER.replace(b'"version":3', b'"version":2') if file.startswith("old") else HEADER
            (folder / f"{file}.jsonl").write_bytes(start + orjson.dumps(line("a")) + b"\n")
            (folder / f"{file}.jsonl").chmod(mode)
        done = subprocess.run([sys.executable, "-c", PROGRAM, name], check=True, capture_output=True, text=True)
        secret, fixed, refused, old = done.stdout.splitlines()

        assert "Permission denied" in secret
        assert fixed.endswith("is read-only: new messages cannot be stored in it. ['a']")
        assert refused == f"PermissionError {name}/fixed.jsonl"
        assert old.endswith("has version 2 and was not converted: it is read-only. 3 1")
        assert sorted(path.name for path in folder.iterdir()) == [
            "fixed.jsonl", "old.jsonl", "old2.jsonl", "old2.jsonl.v2.bak", "secret.jsonl"
        ]  # fmt: skip


def test_system_messages_are_found_without_parsing_the_others(store, write, line):
    record = {"role": "system", "content": "", "sections": {"cwd": "/c"}, "timestamp": 1}
    quoting = line("b", "a", 'He wrote {"message":{"role":"system"}} there.')
    spaced = json.dumps({**line("d", "c"), "message": record}).encode()
    session = store.open(write({**line("s"), "message": record}, line("a", "s"), quoting, line("c", "b"), spaced))

    assert session.entries.index.system == {0, 4}
    assert [entry.message.role for entry in session.entries] == ["system", "user", "user", "user", "system"]


def test_a_session_distinguishes_records_from_messages(store, write, line):
    reported = {"role": "system", "content": "", "sections": {"cwd": "/c"}, "timestamp": 1}
    host = PluginHost(Settings.in_memory({}, agent_dir=store.place.agent_dir))
    manager = SessionManager.open(write({**line("s"), "message": reported}, line("a", "s", "hi")), host=host)

    assert [message.text for message in manager.build_session_context().messages] == ["hi"]
    assert [entry.id for entry in manager.get_branch(records=False)] == ["a"]
    assert manager.recorded_instructions().sections == {"cwd": "/c"}

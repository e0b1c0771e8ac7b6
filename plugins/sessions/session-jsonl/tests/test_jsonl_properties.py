"""Whatever a file holds, and whatever is done to a session: nothing is lost, nothing is changed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import UserError
from pi_hookspecs.entries import SessionHeader
from pi_hookspecs.rare_entries import CustomEntry
from pi_hookspecs.session_store import SessionPlace
from pi_session_jsonl.check import check_session
from pi_session_jsonl.repair import repaired
from pi_session_jsonl.store import JsonlSessionStore
from pi_session_kit.entries import StoredEntries
from pi_session_kit.lines import NoSession, read_lines
from pi_session_kit.summary import summarise, text_of_all

HEADER = b'{"type":"session","version":3,"id":"h","timestamp":"t","cwd":"/c"}'
TEXT = st.text(st.characters(), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
IDS = st.sampled_from(["a", "b", "c", "d", "é", 'q"', ""])
ENTRIES = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "custom", "label", "compaction", "branch", "session", "new", "Ü"])},
    optional={
        "id": IDS | JSON, "parentId": IDS | JSON, "timestamp": TEXT | JSON, "message": JSON, "customType": TEXT,
        "version": JSON,
        "firstKeptEntryIndex": JSON, "firstKeptId": JSON, "targetId": IDS, "name": JSON,
    },
)  # fmt: skip
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "toolResult", "hookMessage", "other"])},
    optional={"content": JSON | st.just([{"type": "text", "text": "x"}, {"type": "toolCall", "id": "1", "name": "n"}]),
              "timestamp": JSON, "tool_use_id": JSON, "toolCallId": JSON, "stopReason": JSON},
)  # fmt: skip
LINES = st.one_of(
    ENTRIES.map(lambda entry: json.dumps(entry, separators=(",", ":")).encode()),
    st.tuples(ENTRIES, MESSAGES).map(lambda two: json.dumps({**two[0], "type": "message", "message": two[1]}).encode()),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
    st.tuples(ENTRIES, st.integers(0, 40)).map(lambda two: json.dumps(two[0]).encode()[: two[1]]),
)
FILES = st.tuples(
    st.sampled_from([HEADER, HEADER.replace(b"3", b"1"), b"", b"\xef\xbb\xbf" + HEADER]), st.lists(LINES)
).map(lambda two: b"\n".join([two[0], *two[1]]))


USUAL_START = b'{"type":"message","id":"a","parentId":%s,"timestamp":"t","message":'
ENDS = st.sampled_from(
    [b"}", b',"new":1}', b',"id":"b"}', b',"message":{"role":"other"}}', b"}}", b"} ", b"}\r", b"]", b""]
)


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"null", b'"a"', b'"\\u0062"']),
            MESSAGES | JSON,
            ENDS,
            st.sampled_from([b"", b" ", b"{", b"["]),
        ).map(lambda parts: USUAL_START % parts[0] + parts[3] + json.dumps(parts[1]).encode() + parts[2]),
        min_size=1,
    ),
    st.booleans(),
)
def test_a_message_without_its_entry_is_that_of_the_entry(rows, ended):
    data = b"\n".join([HEADER, *rows]) + b"\n" * ended

    entries = StoredEntries(read_lines(data))

    for number in range(len(entries)):
        message = entries.message(number)
        assert message is None or repr(message) == repr(entries[number].message)


@settings(deadline=None)
@given(FILES, st.booleans())
def test_any_bytes_are_a_session_or_are_refused(data, ended):
    data += b"\n" * ended
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "s.jsonl"
        path.write_bytes(data)
        store = JsonlSessionStore(SessionPlace(agent_dir=Path(name)))
        try:
            session = store.open(str(path))
        except UserError:
            return
        index, entries = session.entries and session.entries.index, list(session.entries)
        written = path.read_bytes()
        for entry in () if not index else entries:
            json.dumps(entry.id)
        session.append([CustomEntry(id="new", parent_id=None, timestamp="t", custom_type="x")])
        session.close()
        again = store.open(str(path))
        again.close()

        assert path.read_bytes().startswith(written)
        assert [(entry.id, entry.parent_id) for entry in list(again.entries)[:-1]] == [
            (e.id, e.parent_id) for e in entries
        ]
        assert again.entries[len(entries)].id == "new"
        if index:
            assert list(zip(index.ids, index.parent_ids, strict=True)) == [(e.id, e.parent_id) for e in entries]


@settings(deadline=None)
@given(FILES)
def test_a_check_ends_and_a_repair_mends_what_it_says(data):
    try:
        checked = check_session(data)
    except NoSession:
        return
    copy = check_session(repaired(checked))

    assert [finding for finding in copy.findings if finding.mendable] == []
    assert len(copy.lines.ids) >= len(set(checked.lines.ids)) - len(checked.damaged)


@settings(deadline=None)
@given(FILES)
def test_a_summary_agrees_with_reading_everything(data):
    try:
        summary = summarise(data)
    except NoSession:
        return
    lines = read_lines(data)
    messages = 0
    for row in data.split(b"\n"):
        try:
            messages += json.loads(row.decode("utf-8", "replace").strip(" \t\r\n\0\ufeff"))["type"] == "message"
        except (ValueError, TypeError, KeyError):
            continue

    assert summary.id == lines.header["id"]
    assert summary.message_count == messages
    assert isinstance(text_of_all(data), str)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(TEXT, JSON), max_size=4), max_size=8), st.data())
def test_what_is_appended_comes_back_and_forks_byte_for_byte(batches, data):
    with tempfile.TemporaryDirectory() as name:
        store = JsonlSessionStore(SessionPlace(agent_dir=Path(name)))
        session = store.create(SessionHeader(id="h", timestamp="t", cwd="/c"))
        entries = []
        for batch in batches:
            made = [
                CustomEntry(id=f"{len(entries) + n:08x}", parent_id=None, timestamp="t", custom_type=kind, data=value)
                for n, (kind, value) in enumerate(batch)
            ]
            session.append(made)
            entries += made
        if not batches:
            return
        again = store.open(session.reference)
        numbers = data.draw(st.lists(st.integers(0, len(entries) - 1), unique=True)) if entries else []
        rows = session.file.read_bytes().split(b"\n")[1:]
        live = store.fork(session, SessionHeader(id="f", timestamp="t", cwd="/c"), numbers)
        read = store.fork(again, SessionHeader(id="g", timestamp="t", cwd="/c"), numbers)

        assert [entry.id for entry in again.entries] == [entry.id for entry in entries]
        for fork in (live, read):
            assert fork.file.read_bytes().split(b"\n")[1:-1] == [rows[number] for number in numbers]
        for opened in (session, again, live, read):
            opened.close()

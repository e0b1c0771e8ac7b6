"""Files of older versions: read as today's, written once, the original kept."""

from __future__ import annotations

import json
from pathlib import Path

from pi_hookspecs import AssistantMessage, CustomMessage
from pi_hookspecs.rare_entries import CompactionEntry, LabelEntry
from pi_session_kit import migration

USAGE = '{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"total":0}}'
FIRST = f"""\
{{"type":"session","id":"old","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/c","provider":"anthropic","modelId":"claude","thinkingLevel":"off"}}
{{"type":"message","timestamp":"2025-11-20T10:00:01.000Z","message":{{"role":"user","content":"one","timestamp":1763632801000}},"mine":1.0}}
{{"type":"message","timestamp":"2025-11-20T10:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"two"}}],"api":"a","provider":"p","model":"m","usage":{USAGE},"stopReason":"stop","timestamp":1763632802000}}}}
{{"type":"thinking_level_change","timestamp":"2025-11-20T10:00:03.000Z","thinkingLevel":"high"}}
{{"type":"message","timestamp":"2025-11-20T10:00:04.000Z","message":{{"role":"user","content":"three","timestamp":1763632804000}}}}
{{"type":"compaction","timestamp":"2025-11-20T10:00:05.000Z","summary":"so far","firstKeptEntryIndex":4,"tokensBefore":99}}
"""  # noqa: E501 - recorded lines
SECOND = """\
{"type":"session","version":2,"id":"old","timestamp":"2025-12-20T10:00:00.000Z","cwd":"/c"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"t","message":{"role":"user","content":"one","timestamp":5},  "odd" : 1e3}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"t","message":{"role":"hookMessage","customType":"note","content":"hi","display":true,"timestamp":6}}
{"type":"hologram","id":"cccccccc","parentId":"bbbbbbbb","z":[1,  2]}
not json
{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"t","message":{"role":"user","content":"last","timestamp":7}}
"""  # noqa: E501 - recorded lines
SHORT = """\
{"type":"session","version":1,"id":"abc123","timestamp":"2026-02-03T10:00:00Z"}
{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"Hello"}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":"Hi!"}}
{"type":"branch","id":"b1","parentId":"m2","label":"Alternative approach"}
{"type":"message","id":"m3","parentId":"m2","message":{"role":"user","content":"Try again"}}
{"type":"compaction","id":"c1","parentId":"m3","summary":"...","firstKeptId":"m3"}
"""  # a short form of an early version


def opened(store, tmp_path, text):
    path = tmp_path / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    return store.open(str(path))


def test_version_1_becomes_a_chain(store, tmp_path):
    session = opened(store, tmp_path, FIRST)
    index = session.entries.index
    compaction = session.entries[4]

    assert index.types == ["message", "message", "thinking_level_change", "message", "compaction"]
    assert index.parent_ids == [None, *index.ids[:-1]]
    assert all(len(entry_id) == 8 and int(entry_id, 16) >= 0 for entry_id in index.ids)
    assert isinstance(compaction, CompactionEntry)
    assert compaction.first_kept_entry_id == index.ids[3]
    assert session.entries[0].extra == {"mine": 1}
    assert session.header.version == 3


def test_a_migrated_file_is_written_once_and_the_original_is_kept(store, tmp_path):
    first = opened(store, tmp_path, FIRST)
    first.close()
    written = first.file.read_bytes()
    second = store.open(first.reference)

    assert first.file.with_name("s.jsonl.v1.bak").read_text(encoding="utf-8") == FIRST
    assert "now has version 3" in first.notices[0]
    assert json.loads(written.splitlines()[0])["version"] == 3
    assert b"firstKeptEntryIndex" not in written
    assert second.notices == []
    assert second.file.read_bytes() == written
    assert list(second.entries) == list(first.entries)
    assert len(list(tmp_path.glob("s.jsonl*"))) == 2
    assert second.header.extra == {"provider": "anthropic", "modelId": "claude", "thinkingLevel": "off"}


def test_of_version_2_only_hook_messages_change(store, tmp_path):
    session = opened(store, tmp_path, SECOND)
    before, after = SECOND.splitlines(), session.file.read_text(encoding="utf-8").splitlines()
    message = session.entries[1].message

    assert after[1] == before[1]
    assert after[3:] == before[3:]
    assert isinstance(message, CustomMessage)
    assert message.custom_type == "note"
    assert json.loads(after[2])["message"]["role"] == "custom"
    assert session.file.with_name("s.jsonl.v2.bak").read_text(encoding="utf-8") == SECOND
    assert any("Line 5 " in notice for notice in session.notices)


def test_entries_of_version_1_that_have_an_id_keep_it(store, tmp_path):
    session = opened(store, tmp_path, SHORT)
    _, answer, branch, again, compaction = session.entries

    assert session.entries.index.ids == ["m1", "m2", "b1", "m3", "c1"]
    assert session.entries.index.parent_ids == [None, "m1", "m2", "m2", "m3"]
    assert isinstance(answer.message, AssistantMessage)
    assert answer.message.text == "Hi!"
    assert isinstance(branch, LabelEntry)
    assert (branch.target_id, branch.label) == ("m2", "Alternative approach")
    assert again.message.text == "Try again"
    assert compaction.first_kept_entry_id == "m3"


def test_a_file_in_use_is_migrated_in_memory_alone(store, tmp_path, user_entry):
    path = tmp_path / "s.jsonl"
    path.write_text(FIRST, encoding="utf-8")
    from pi_session_jsonl.file import SessionFile

    other = SessionFile.open(path)
    session = store.open(str(path))
    session.append([user_entry("next", session.entries.index.ids[-1])])
    assert path.read_text(encoding="utf-8").startswith(FIRST)
    assert "was not converted: another process is using it" in session.notices[0]
    session.close()
    other.close()

    again = store.open(str(path))
    assert again.entries.index.ids == [*session.entries.index.ids, "next"]
    assert list(again.entries)[:-1] == list(session.entries)


def test_what_others_append_meanwhile_is_not_lost(store, tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    path.write_text(SECOND, encoding="utf-8")
    migrated = migration.migrated

    def slow(lines):
        with path.open("a") as file:
            file.write('{"type":"label","id":"new","parentId":"dddddddd","timestamp":"t","targetId":"aaaaaaaa"}\n')
        return migrated(lines)

    monkeypatch.setattr("pi_session_jsonl.opening.migrated", slow)
    session = store.open(str(path))
    session.close()
    monkeypatch.undo()

    assert "It was changed in the meantime" in session.notices[0]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["s.jsonl"]
    assert store.open(str(path)).entries.index.ids[-1] == "new"


def test_a_link_to_a_session_stays_a_link(store, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.jsonl").write_text(SECOND, encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to("real/s.jsonl")
    store.open(str(tmp_path / "link.jsonl")).close()

    assert (tmp_path / "link.jsonl").is_symlink()
    assert sorted(each.name for each in (tmp_path / "real").iterdir()) == ["s.jsonl", "s.jsonl.v2.bak"]


def test_a_second_original_gets_a_name_of_its_own(store, tmp_path):
    for text in (FIRST, SHORT):
        opened(store, tmp_path, text).close()

    assert (tmp_path / "s.jsonl.v1.bak").read_text(encoding="utf-8") == FIRST
    assert (tmp_path / "s.jsonl.v1.bak2").read_text(encoding="utf-8") == SHORT
    assert Path(tmp_path / "s.jsonl").exists()


def test_many_entries_without_ids_are_read_fast_enough(store, tmp_path):
    row = '{"type":"custom","timestamp":"t","customType":"x"}\n'
    session = opened(store, tmp_path, FIRST + row * 5000)

    assert len(set(session.entries.index.ids)) == 5005

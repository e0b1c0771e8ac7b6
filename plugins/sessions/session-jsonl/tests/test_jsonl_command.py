"""``pi sessions``: lists, finds, checks and repairs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from attrs import evolve

import pi_session_jsonl
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_hookspecs import UnknownName, UserError, hookimpl
from pi_session_jsonl import register_subcommands
from pi_session_jsonl.check import check_session
from pi_session_jsonl.store import JsonlSessionStore

COMPACTION = {
    "type": "compaction", "id": "k", "parentId": "l", "timestamp": "t",
    "summary": "s", "firstKeptEntryId": "yyy", "tokensBefore": 1,
}  # fmt: skip


@pytest.fixture
def run(place, capsys, monkeypatch):
    """Runs ``pi sessions ...``; returns the exit code and what it printed."""
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)

    def call(*arguments, settings=None, plugins=()):
        host = PluginHost(Settings.in_memory(settings or {}, agent_dir=place.agent_dir), installed=False)
        host.add(pi_session_jsonl, "session-jsonl")
        for plugin in plugins:
            host.add(plugin, "other")
        (command,) = register_subcommands()
        return command.run(list(arguments), host), capsys.readouterr().out

    return call


@pytest.fixture
def call():
    """Makes an answer with tool calls, and a result, as plain data."""
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": {}}

    def make(entry_id, parent_id, *ids, role="assistant", reason="toolUse"):
        if role == "assistant":
            calls = [{"type": "toolCall", "id": each, "name": "bash", "arguments": {}} for each in ids]
            more = {"api": "a", "provider": "p", "model": "m", "usage": usage, "stopReason": reason}
        else:
            calls, more = [], {"toolCallId": ids[0], "toolName": "bash", "isError": False}
        message = {"role": role, "content": calls, **more, "timestamp": 5}
        return {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": "t", "message": message}

    return make


def findings(path):
    return [(each.line, each.message) for each in check_session(Path(path).read_bytes()).findings]


def test_an_empty_request_gets_a_list_of_abilities(run):
    assert run()[1].startswith("Usage: pi sessions list")
    assert run("fsck", "--help") == run("-h")


@pytest.mark.parametrize(
    ("arguments", "error", "user_entry"),
    [
        (["lst"], UnknownName, "Unknown command of pi sessions: lst. Did you mean list?"),
        (["list", "--al"], UnknownName, "Unknown option: --al. Did you mean --all?"),
        (["fsck"], UserError, "pi sessions fsck needs FILE. See pi sessions --help"),
        (["path", "a", "b"], UserError, "pi sessions path takes no argument 'b'. See pi sessions --help"),
        (
            ["path", "nothing"],
            UserError,
            "No session found matching 'nothing'. pi sessions list shows them (see pi help sessions)",
        ),
        (["fsck", "/nowhere.jsonl"], UserError, "Cannot read '/nowhere.jsonl': No such file or directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_reported(arguments, error, user_entry, run):
    with pytest.raises(error) as raised:
        run(*arguments)
    assert str(raised.value) == user_entry


def test_a_list_is_a_table(run, store, header, user_entry, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(["first\nline", "\x1b[31mred"]):
        store.create(header(str(tmp_path), f"id{number}")).append(
            [user_entry("a", None, text, 1_770_000_000_000 + number * 60_000)]
        )
    store.create(header("/else", "other")).append([user_entry("a")])
    code, printed = run("list", "--verbose")
    lines = printed.splitlines()

    assert code == 0
    assert [" ".join(line.split()[2:]) for line in lines] == ["id1 1 \\x1b[31mred", "id0 1 first line"]
    assert "/else" in run("list", "--all", "--disable", "x")[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_a_terminal_of_unknown_size_gets_whole_lines(run, store, header, user_entry, monkeypatch, tmp_path):
    import pty

    monkeypatch.chdir(tmp_path)
    store.create(header(str(tmp_path), "id0")).append([user_entry("a", None, "What is the tide?")])
    reader, terminal = pty.openpty()  # of 0 columns
    with os.fdopen(terminal, "w") as stdout, os.fdopen(reader, "rb", buffering=0) as output:
        monkeypatch.setattr(sys, "stdout", stdout)
        run("list")
        stdout.flush()

        assert b"What is the tide?" in output.read(4096)


@pytest.mark.parametrize("joined", [True, False])
def test_sessions_of_another_folder_are_listed_and_found(run, place, header, user_entry, monkeypatch, tmp_path, joined):
    other = JsonlSessionStore(evolve(place, session_dir=tmp_path / "other"))
    stored = other.create(header(str(Path.cwd()), "0042"))
    stored.append([user_entry("a")])
    stored.close()
    folder = [f"--session-dir={tmp_path / 'other'}"] if joined else ["--session-dir", str(tmp_path / "other")]

    assert "0042" in run("list", "--all", *folder)[1]
    assert run("path", *folder, "0042")[1] == f"{stored.reference}\n"
    assert "0042" not in run("list", "--all")[1]


def test_a_folder_that_is_left_out_is_a_wrong_use(run):
    with pytest.raises(UserError, match="--session-dir needs a folder"):
        run("list", "--session-dir")
    with pytest.raises(UserError, match="Unknown option: --session-dir"):
        run("fsck", "x.jsonl", "--session-dir", "y")


def test_an_empty_list_comes_with_where_to_look(run):
    assert run("list") == (0, "No sessions are stored for this directory; --all looks everywhere.\n")
    assert run("list", "--all") == (0, "No sessions are stored.\n")


def test_a_chosen_folder_is_looked_at(run, write, tmp_path, monkeypatch):
    path = write(name="mine.jsonl")

    assert run("path", "h", settings={"sessionDir": str(tmp_path)}) == (0, f"{path}\n")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "none"))
    with pytest.raises(UserError, match="No session found"):
        run("path", "h", settings={"sessionDir": str(tmp_path)})


def test_a_session_is_found_by_the_beginning_of_its_id(run, store, header, user_entry):
    paths = {}
    for name in ("abc1", "abc2", "abc"):
        session = store.create(header("/a", name))
        session.append([user_entry("x")])
        paths[name] = session.reference

    assert run("path", "abc1") == (0, f"{paths['abc1']}\n")
    assert run("path", "abc") == (0, f"{paths['abc']}\n")
    with pytest.raises(UserError, match="3 sessions match 'ab'"):
        run("path", "ab")


class OtherStore(JsonlSessionStore):
    """A store of another plugin, with sessions of its own."""

    name = "other"

    def __init__(self, place):
        super().__init__(evolve(place, session_dir=place.agent_dir / "other"))


class OtherPlugin:
    @hookimpl
    def register_session_stores(self):
        return [OtherStore]


def test_the_sessions_of_the_store_in_use_are_listed_and_found(
    run, store, place, header, user_entry, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    store.create(header(str(tmp_path), "files")).append([user_entry("a")])
    other = OtherStore(place).create(header(str(tmp_path), "elsewhere"))
    other.append([user_entry("a")])
    used = {"settings": {"sessionStore": "other"}, "plugins": [OtherPlugin()]}

    assert "elsewhere" in run("list", **used)[1]
    assert "files" not in run("list", "--all", **used)[1]
    assert run("path", "else", **used) == (0, f"{other.reference}\n")


def test_an_empty_list_names_the_store_in_use(run):
    printed = run("list", "--all", settings={"sessionStore": "memory"})[1]

    assert printed == "No sessions are stored in the session store 'memory'.\n"


def test_a_store_that_is_missing_is_named(run):
    with pytest.raises(UserError, match="No plugin provides the session store 'lost'"):
        run("list", settings={"sessionStore": "lost"})


# fsck


def test_an_intact_file_is_reported_as_intact(run, write, line, call):
    path = write(
        line("a"),
        call("b", "a", "1", "2"),
        call("c", "b", "2", role="toolResult"),
        call("d", "c", "1", role="toolResult"),
        line("e", "d"),
        line("f", "a"),
    )

    assert run("fsck", path) == (0, "Nothing is wrong: 6 entries.\n")
    assert run("fsck", "--repair", path)[0] == 0


def test_every_invariant_is_checked(run, write, line, call):
    path = write(
        line("a"),  # 2
        b'{"torn',
        line("b", "a"),
        line("b", "a", "again"),  # 5
        line("c", "nowhere"),
        line("d", "e"),  # 7
        line("e", "d"),
        {"type": "label", "id": "l", "parentId": "c", "timestamp": "t", "targetId": "zzz", "label": "x"},
        COMPACTION,  # 10
        call("m", "a", "1", "2"),
        call("n", "m", "1", role="toolResult"),
        call("o", "n", "1", role="toolResult"),  # 13
        call("p", "a", "never", reason="aborted"),
        {"type": "custom", "customType": "x", "timestamp": "t"},  # 15
        {"type": "model_change", "id": "q", "parentId": "a", "timestamp": "t", "provider": 5, "modelId": "m"},
        b'{"type":"mess',
        end="",
    )  # fmt: skip
    before = Path(path).read_bytes()
    code, printed = run("fsck", path)

    assert code == 1
    assert [int(row.split(":")[0].removeprefix("line ")) for row in printed.splitlines()] == [
        3,
        4,
        6,
        7,
        9,
        10,
        11,
        13,
        15,
        16,
        17,
    ]
    assert findings(path)[1:5] == [
        (4, "its id 'b' is also that of line 5"),
        (6, "its parent 'nowhere' is not in the file"),
        (7, "its parents form a cycle"),
        (9, "it labels 'zzz', which is not in the file"),
    ]
    assert findings(path)[6:8] == [
        (11, "its tool call '2' of 'bash' has no result on the branch that ends in line 13"),
        (13, "it is a result, but no earlier tool call '1' waits for one"),
    ]
    assert findings(path)[-1] == (17, "it was not completely written")
    assert Path(path).read_bytes() == before


def test_calls_are_paired_on_each_branch(write, line, call):
    path = write(line("a"), call("b", "a", "1"), call("c", "b", "1", role="toolResult"), line("d", "b"), line("e", "d"))

    assert findings(path) == [(3, "its tool call '1' of 'bash' has no result on the branch that ends in line 6")]


def test_a_repaired_copy_is_written_next_to_the_original(run, write, line, store):
    good = b'{"type":"custom", "id":"g","parentId":"b", "timestamp":"t","customType":"x","data":{"kept": 1.0}}'
    path = write(
        line("a"), line("b", "lost"), b"{", line("b", "a", "mine"), line("c", "x"), line("d", "e"), line("e", "d"),
        good, line("a"), b'{"to', end="",
    )  # fmt: skip
    before = Path(path).read_bytes()
    code, printed = run("fsck", "--repair", path)
    copy = printed.splitlines()[-1]
    session = store.open(copy)

    assert code == 0
    assert copy == path.replace("s.jsonl", "s.repaired.jsonl")
    assert Path(path).read_bytes() == before
    assert findings(copy) == []
    assert good in Path(copy).read_bytes().split(b"\n")
    assert len(session.entries) == 7
    assert session.notices == []
    by_id = dict(zip(session.entries.index.ids, session.entries.index.parent_ids, strict=True))
    assert by_id["c"] == "b"  # the entry before it, for its parent is lost
    assert (by_id["d"], by_id["e"]) == (None, "d")
    assert run("fsck", "--repair", path)[1].splitlines()[-1] == path.replace("s.jsonl", "s.repaired-2.jsonl")


def test_a_file_without_a_header_gets_one(run, write, line, store):
    path = write(line("a"), line("b", "a"), header=False)
    code, printed = run("fsck", "--repair", path)
    lines = printed.splitlines()

    assert code == 0
    assert lines[0] == "line 1: the file has no session header"
    assert store.open(lines[-1]).entries.index.ids == ["a", "b"]


def test_an_older_version_is_sound(run, write):
    path = write(
        {"type": "session", "id": "h"},
        {"type": "message", "message": {"role": "user", "content": "a"}},
        {"type": "custom", "customType": "x"},
        header=False,
    )

    assert run("fsck", path) == (0, "Nothing is wrong: 2 entries.\n")


def test_an_older_version_is_repaired_into_todays(run, write):
    path = write(
        {"type": "session", "id": "h", "cwd": "/c", "timestamp": "t"},
        {"type": "custom", "customType": "x", "timestamp": "t"},
        {"type": "custom", "customType": "x", "timestamp": "t"},
        b"damaged",
        header=False,
    )
    code, printed = run("fsck", "--repair", path)
    rows = [json.loads(row) for row in Path(printed.splitlines()[-1]).read_bytes().splitlines()]

    assert code == 0
    assert (rows[0]["version"], rows[2]["parentId"]) == (3, rows[1]["id"])


def test_what_holds_no_session_cannot_be_repaired(run, write):
    with pytest.raises(UserError, match=r"contains no session: no line of it is JSON"):
        run("fsck", "--repair", write(b"garbage", header=False))


def test_calls_without_results_are_left_to_the_next_run(run, write, line, call):
    path = write(line("a"), call("b", "a", "1"))
    code, printed = run("fsck", "--repair", path)

    assert code == 0
    assert printed.splitlines()[1:] == ["A repaired copy would be no different; the file can be used as it is."]
    assert [file.name for file in Path(path).parent.glob("*.jsonl")] == [Path(path).name]


def test_the_command_is_found_by_the_host(place):
    host = PluginHost(Settings.in_memory({}, agent_dir=place.agent_dir))

    assert host.find("register_subcommands", "sessions") is not None
    assert host.find("register_session_stores", "jsonl") is not None


def test_a_tree_lists_sessions_under_their_parent_wherever_they_work(run, store, header, answered, monkeypatch):
    def stored(name, cwd, parent=None):
        session = store.create(header(cwd, name, parent_session=parent))
        session.append([answered("a", text=f"I am {name}")])
        return session.reference

    monkeypatch.setattr(Path, "cwd", lambda: Path("/here"))
    root = stored("0001", "/here")
    child = stored("0002", "/here", root)
    stored("0003", "/worktree", child)
    stored("0004", "/elsewhere")
    _, printed = run("list", "--tree")

    rows = [(line.split("  ")[1], line.count("└─"), line.index("(no messages)")) for line in printed.splitlines()]
    first = rows[0][2]
    assert rows == [("0001", 0, first), ("0002", 1, first + 3), ("0003", 1, first + 6)]


def test_a_tree_of_a_folder_of_its_own_lists_sessions_under_their_parent_too(run, place, header, answered, monkeypatch):
    own = evolve(place, session_dir=place.agent_dir / "own")  # as ``--session-dir`` makes it
    store = JsonlSessionStore(own)
    monkeypatch.setattr(Path, "cwd", lambda: Path("/here"))
    references = [None]
    for name, cwd in (("0001", "/here"), ("0002", "/here"), ("0003", "/worktree")):
        session = store.create(header(cwd, name, parent_session=references[-1]))
        session.append([answered("a", text=f"I am {name}")])
        references.append(session.reference)
    store.create(header("/elsewhere", "0004")).append([answered("a", text="I am 0004")])

    printed = run("list", "--tree", settings={"sessionDir": str(own.session_dir)})[1].splitlines()

    assert [(line.split("  ")[1], line.count("└─")) for line in printed] == [("0001", 0), ("0002", 1), ("0003", 1)]


def test_a_tree_lists_children_whose_parent_is_in_another_folder(run, store, header, answered, monkeypatch):
    monkeypatch.setattr(Path, "cwd", lambda: Path("/here"))
    orphan = header("/here", "0002", parent_session="/another/folder/0001.jsonl")
    session = store.create(evolve(orphan, extra={"parentCall": "call-1"}))
    session.append([answered("a", text="I am a child")])
    store.create(header("/here", "0003", parent_session=session.reference)).append([answered("a")])

    printed = run("list", "--tree")[1].splitlines()

    assert [(line.split("  ")[1], line.count("└─")) for line in printed] == [("0002", 0), ("0003", 1)]


def test_sessions_that_name_each_other_are_listed_once(run, store, header, answered, monkeypatch):
    monkeypatch.setattr(Path, "cwd", lambda: Path("/here"))
    first = store.create(header("/here", "0001"))
    second = store.create(header("/here", "0002", parent_session=first.reference))
    second.append([answered("a")])
    store.create(header("/here", "0001", parent_session=second.reference)).append([answered("a")])

    assert len(run("list", "--tree")[1].splitlines()) == 2

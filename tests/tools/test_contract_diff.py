"""``contract_diff`` finds what breaks plugins of the old contract, and nothing else."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

from pi_testing import for_each

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from contract_diff import ACCEPTED, breaks  # noqa: E402 - a script's folder, not a package

BLOCK = {"type": "bool", "positional": False, "default": "False"}
OLD = {
    "version": "1.0.0",
    "hooks": {
        "call": {
            "async": True,
            "parameters": {"event": "CallEvent", "ctx": "PiContext"},
            "returns": "CallResult | None",
            "answers": "block: veto, input: pipe",
            "onFailure": "refuse",
            "deadline": 30.0,
        }
    },
    "values": {"CallEvent": {"fields": {"name": {"type": "str", "positional": True}, "block": BLOCK}}},
    "protocols": {
        "Ctx": {
            "implemented": False,
            "bases": [],
            "members": {
                "settings": {"kind": "property", "type": "View"},
                "run": {
                    "kind": "method",
                    "async": True,
                    "parameters": {
                        "name": {"kind": "positional_or_keyword", "type": "str"},
                        "level": {"kind": "keyword_only", "type": "Literal['a', 'b']", "default": "a"},
                    },
                    "returns": "None",
                },
            },
        },
        "View": {"implemented": False, "bases": [], "members": {}},
        "Store": {
            "implemented": True,
            "bases": [],
            "members": {
                "list": {"kind": "attribute", "type": "int"},
                "read": {"kind": "method", "async": False, "parameters": {}, "returns": "Sequence[str]"},
            },
        },
    },
    "errors": {"Wrong": {"bases": ["PiError"], "parameters": {}}},
    "functions": {"tool": {"async": False, "parameters": {}, "returns": "Tool"}},
    "names": {"Level": {"is": "Literal['a', 'b']"}, "SECTIONS": {"is": '{"one": "1"}'}},
}


def changed(path, value):
    """Return the old contract with another value at a path; None removes what is there."""
    new = copy.deepcopy(OLD)
    *above, last = path
    node = new
    for step in above:
        node = node[step]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return new


READ = ("protocols", "Store", "members", "read")
RUN = ("protocols", "Ctx", "members", "run")
METHOD = {"kind": "method", "async": False, "parameters": {}, "returns": "None"}
REQUIRED = {"kind": "positional_or_keyword", "type": "int"}
BREAKS = [
    (("hooks", "call"), None, "hook call: removed"),
    (("hooks", "call", "parameters", "ctx"), None, "hook call, parameter ctx: removed"),
    (("hooks", "call", "answers"), "block: first, input: pipe", "'block: veto', now by 'block: first, input: pipe'"),
    (("hooks", "call", "onFailure"), "skip", "onFailure was refuse, now skip"),
    (("hooks", "call", "async"), False, "async was True, now False"),
    (("hooks", "call", "returns"), "None", "answer was CallResult | None, now None"),
    (("values", "CallEvent"), None, "value CallEvent: removed"),
    (("values", "CallEvent", "fields", "block"), None, "value CallEvent, field block: removed"),
    (("values", "CallEvent", "fields", "name", "type"), "int", "field name: type was str, now int"),
    (("values", "CallEvent", "fields", "block", "default"), "True", "field block: default was False, now True"),
    (("values", "CallEvent", "fields", "block", "default"), None, "field block: required now"),
    (("values", "CallEvent", "fields", "new"), {"type": "str", "positional": False}, "field new: new and required"),
    (("values", "CallEvent", "fields", "name", "positional"), False, "taken by position were name, now none"),
    (RUN, None, "protocol Ctx, run: removed"),
    ((*RUN, "parameters", "level"), None, "run, parameter level: removed"),
    ((*RUN, "parameters", "new"), REQUIRED, "run, parameter new: new and required"),
    ((*RUN, "parameters", "level", "type"), "Literal['a']", "parameter level: type was"),
    ((*RUN, "parameters", "name", "kind"), "keyword_only", "parameter name: kind was positional_or_keyword"),
    ((*RUN, "returns"), "int", "result was None, now int"),
    ((*RUN, "returns"), "int | None", "result was None, now int | None"),
    (("protocols", "Ctx", "members", "settings", "type"), "Other", "type was View, now Other"),
    (("protocols", "Store", "members", "search"), METHOD, "protocol Store, search: new, and plugins implement it"),
    ((*READ, "returns"), "Sequence[int]", "result was Sequence[str], now Sequence[int]"),
    (("errors", "Wrong", "bases"), [], "error Wrong: is no PiError any more"),
    (("functions", "tool"), None, "function tool: removed"),
    (("names", "Level", "is"), "Literal['a']", "name Level: meaning was"),
    (("names", "SECTIONS", "is"), '{"one": "2"}', "name SECTIONS: meaning was"),
]


@for_each(("path", "value", "line"), BREAKS)
def test_a_break_is_found_and_named(path, value, line):
    found = [*breaks(OLD, changed(path, value))]

    assert len(found) == 1
    assert line in found[0]


ADDITIONS = [
    (("hooks", "other"), OLD["hooks"]["call"]),
    (("hooks", "call", "answers"), "block: veto, input: pipe, reason: first"),
    (("hooks", "call", "returns"), "CallResult | Other | None"),
    (("values", "CallEvent", "fields", "new"), {"type": "str", "positional": False, "default": "''"}),
    (("protocols", "Ctx", "members", "new"), METHOD),
    ((*RUN, "parameters", "new"), {**REQUIRED, "kind": "keyword_only", "default": "1"}),
    ((*RUN, "parameters", "name", "type"), "str | Path"),
    ((*RUN, "parameters", "level", "type"), "Literal['a', 'b', 'c']"),
    (("protocols", "View"), {"implemented": False, "bases": ["Ctx"], "members": {"x": METHOD}}),
    ((*READ, "returns"), "Sequence[str | Line] | None"),
    (("names", "SECTIONS", "is"), '{"one": "1", "two": "2"}'),
    (("names", "Level", "is"), "Literal['b', 'c', 'a']"),
]


@for_each(("path", "value"), ADDITIONS)
def test_an_addition_is_no_break(path, value):
    assert [*breaks(OLD, changed(path, value))] == []


def test_what_plugins_read_may_have_a_type_that_extends_the_old_one():
    new = changed(("protocols", "Ctx", "members", "settings", "type"), "WiderView")
    new["protocols"]["WiderView"] = {"implemented": False, "bases": ["View"], "members": {"set": METHOD}}

    assert [*breaks(OLD, new)] == []


def diff(*files):
    script = ROOT / "tools" / "contract_diff.py"
    return subprocess.run([sys.executable, script, *files], capture_output=True, text=True, check=False)


def test_breaks_are_printed_and_end_with_exit_code_1(tmp_path):
    for name, contract in (("old", OLD), ("new", changed(("hooks", "call"), None))):
        (tmp_path / name).write_text(json.dumps(contract))

    done = diff(tmp_path / "old", tmp_path / "new")

    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "hook call: removed"
    assert "1 breaks since 1.0.0" in done.stdout


def test_the_present_contract_breaks_nothing_of_1_0():
    done = diff()

    assert (done.stdout, done.returncode) == ("", 0)


def test_every_accepted_break_is_still_one():
    old, new = (
        json.loads((ROOT / "docs" / "reference" / name).read_text()) for name in ("contract-1.0.json", "contract.json")
    )

    assert {each.partition(": ")[0] for each in breaks(old, new)} == {*ACCEPTED}


def test_the_contract_is_what_the_script_writes():
    script = ROOT / "tools" / "build_contract.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0)


def test_the_contract_has_hooks_values_protocols_and_services():
    found = json.loads((ROOT / "docs" / "reference" / "contract.json").read_text())

    assert found["hooks"]["tool_call"]["onFailure"] == "refuse"
    assert found["values"]["ToolCallEvent"]["fields"]["tool_name"] == {"type": "str", "positional": False}
    assert found["protocols"]["PiAPI"]["members"]["register_flag"]["parameters"]["default"]["default"] == "None"
    assert found["protocols"]["Launcher"]["implemented"]
    assert "Launcher" in found["names"]["Service"]["is"]

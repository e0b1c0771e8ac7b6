"""docs/settings.md says what the code does: it is made from the class, and the class knows what the code reads."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

from pi_core import PluginHost, Settings
from pi_core.settings.values import steps_of

ROOT = Path(__file__).parents[2]
READERS = {"get_number", "get_bool", "get_str", "get_str_list", "get_object", "get_choice"}
SOURCES = [
    file
    for folder in ("pi_core/src", *(str(each.relative_to(ROOT)) for each in sorted((ROOT / "plugins").glob("*/*/src"))))
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "settings" not in file.parts
]


def reads(file):
    """Yield key, default and line of every setting that a module reads by its literal name."""
    source = file.read_text(encoding="utf-8")
    if ".get_" not in source:  # parsing all modules takes seconds
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        key = node.args[0]
        if node.func.attr in READERS and isinstance(key, ast.Constant) and isinstance(key.value, str):
            defaults = [each.value for each in node.keywords if each.arg == "default"] or node.args[1:2]
            literal = defaults and isinstance(defaults[0], ast.Constant)
            yield key.value, defaults[0].value if literal and node.func.attr != "get_choice" else ..., node.lineno


@cache
def known():
    """Return the settings, which takes seconds: too long while tests are collected."""
    return PluginHost(Settings.in_memory()).known_settings


def node_of(key):
    node = known().json_schema
    for step in steps_of(key):
        node = node.get("properties", {}).get(step)
        if node is None:
            return None
    return node


def test_the_page_is_what_the_script_writes():
    script = ROOT / "tools" / "build_settings_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_every_setting_that_is_read_is_described_with_its_default():
    wrong = []
    for file in SOURCES:
        for key, default, line in reads(file):
            declared, where = known().find(steps_of(key)), f"{file.relative_to(ROOT)}:{line}"
            if node_of(key) is None:
                wrong.append(f"{where} reads {key!r}, which neither pi nor a plugin declares")
            elif (
                declared is not None
                and None not in (default, declared.default)
                and default not in (..., declared.default)
            ):
                wrong.append(f"{where} takes {default!r} for {key!r}, the schema says {declared.default!r}")

    assert wrong == []

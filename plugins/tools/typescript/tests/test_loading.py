"""How files are loaded, by Node.js itself and through jiti, with packages that are CommonJS; and what needs pi-tui."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from pi_core import Settings
from pi_testing import RecordingScreen, for_each, steps, until
from pi_typescript.language import TypeScript

INSTALLED = Path(__file__).resolve().parents[4] / ".typescript-examples"
PACKAGES = INSTALLED / "node_modules"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PACKAGES / "jiti").is_dir(), reason="needs tools/typescript_examples.py --install"),
]

TYPED = """
import ms from "ms";
import * as all from "ms";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
const { sep } = require("node:path");
const again = require("ms");
export default function (pi: ExtensionAPI): void {
  const names = [ms("1m"), all.default("2m"), again("3m"), __dirname.split(sep).pop(), __filename.split(".").pop()];
  pi.registerCommand(names.join("-"), { handler: async () => {} });
}
"""
WITH_ENUM = "enum Unit { minute = 1 }\n" + TYPED.replace('ms("1m")', "ms(`${Unit.minute}m`)")
COMMON = """
const ms = require("ms");
module.exports = function (pi) {
  const names = [ms("1m"), require("ms")("2m"), require("./other.cjs").three, __dirname.split("/").pop(), "END"];
  pi.registerCommand(names.join("-"), { handler: async () => {} });
};
"""
OURS = """
import { CONFIG_DIR_NAME } from "@earendil-works/pi-coding-agent";
import ms from "ms";
export default (pi) => {
  const names = [ms("1m"), ms("2m"), ms("3m"), CONFIG_DIR_NAME && "own", "mjs"];
  pi.registerCommand(names.join("-"), { handler: async () => {} });
};
"""
OTHER = 'exports.three = require("ms")("3m");'
FILES = {
    "typed.ts": TYPED,
    "listed.ts": WITH_ENUM,
    "module.mts": TYPED,
    "ours.mjs": OURS,
    "common.cjs": COMMON.replace("END", "cjs"),
    "plain.js": COMMON.replace("END", "js"),
    "common.cts": COMMON.replace("(pi)", "(pi: any): void").replace("END", "cts"),
}


def nodes() -> list[str]:
    """The Node.js on the PATH, and the one that runs the examples, which runs TypeScript itself."""
    found = [shutil.which("node"), *PACKAGES.glob("node-*/bin/node")]
    return [str(each) for each in found if each is not None]


@for_each(("file", "source"), [*FILES.items()])
def test_packages_that_are_commonjs_are_imported_by_each_kind_of_file(file, source, tmp_path):
    agent_dir, folder = tmp_path / "agent", tmp_path / "own"
    agent_dir.mkdir(exist_ok=True)
    if not (agent_dir / "typescript").exists():
        (agent_dir / "typescript").symlink_to(INSTALLED)
        (folder / "node_modules").mkdir(parents=True)
        (folder / "node_modules" / "ms").symlink_to(PACKAGES / "ms")
    (folder / file).write_text(source)
    (folder / "other.cjs").write_text(OTHER)
    for node in nodes():
        settings = Settings.in_memory({"typescript": {"node": node}}, agent_dir=agent_dir)

        said = TypeScript().check(folder / file, settings)

        assert said == [("note", f"commands: 60000-120000-180000-own-{file.rpartition('.')[2]}")], node


EDITOR = """
import { CustomEditor } from "@earendil-works/pi-coding-agent";
export default (pi) => {
  pi.on("session_start", (_event, ctx) => ctx.ui.setEditorComponent((...given) => new CustomEditor(...given)));
};
"""
NODE = str(next(PACKAGES.glob("node-*/bin/node"), "node"))
KEYS = {"app.interrupt": ["escape"], "app.tree.editLabel": ["shift+l"], "app.tree.filter.all": ["ctrl+a"]}


@pytest.fixture
async def editor(pi_agent_dir, pi_session, fake_ui, monkeypatch):
    """Return a function that returns the screen of the editor; extensions can import pi-tui."""
    (pi_agent_dir / "typescript").symlink_to(INSTALLED)
    keys = property(lambda _screen: KEYS, lambda _screen, _keys: None)
    monkeypatch.setattr(RecordingScreen, "keybindings", keys, raising=False)
    pi_session.mode = "fullscreen"
    await pi_session.reload()

    async def opened():
        screen = fake_ui.screens["editor"]
        await until(lambda: screen.rows)
        return screen

    return opened


@pytest.mark.extension("editor.ts", EDITOR)
@pytest.mark.pi(entry_points=["isolated", "typescript"], screen=True, settings={"typescript": {"node": NODE}})
async def test_an_editor_gets_letters_that_are_keys_of_other_places(pi_session, fake_ui, editor):
    for _ in range(2):  # the keys of actions come with the first component
        screen = await editor()
        screen.press("a", "L", "ctrl+a", "T")
        await until(lambda: fake_ui.editor_text == "TaL")
        await pi_session.new_session()
        fake_ui.editor_text = ""


@pytest.mark.extension("editor.ts", EDITOR)
@pytest.mark.pi(entry_points=["isolated", "typescript"], screen=True)
async def test_escape_in_the_first_editor_stops_a_run_with_the_node_on_the_path(pi_session, script, editor):
    script.turn(steps.stall())
    screen = await editor()
    running = asyncio.create_task(pi_session.prompt("Go"))
    await script.stalled()

    screen.press("escape")
    await running

    assert pi_session.last_answer().stop_reason == "aborted"

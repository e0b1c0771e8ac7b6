"""Sixty keys of more than twenty formats, planted everywhere: none in any file that pi writes."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

import pi_redact
from pi_core.conversation.debug_log import open_debug_log
from pi_hookspecs import Compaction, hookimpl
from pi_terminal_kit.prompt_history import PromptFile
from pi_testing import text, tool_call


class Compacts:
    @hookimpl
    def register_services(self):
        return [self]

    async def compact(self, request, ctx):
        kept = ctx.session.branch()[-1].id
        return Compaction(summary=f"much was said about {self.key}", first_kept_entry_id=kept, tokens_before=9)


COMPACTS = Compacts()
pytestmark = pytest.mark.pi(
    plugins={"redact": pi_redact, "compacts": COMPACTS},
    entry_points=["tools", "export-html"],
    stored=True,
    tools=["bash", "read"],
)


@pytest.fixture
def keys(made_up):
    return [key for number in (11, 12, 13) for key in made_up(number).values()]


def secret_part(key):
    return key.removeprefix("AccountKey=").removeprefix("postgres://bob:")


async def test_no_key_is_in_any_file(pi_session, script, keys, tmp_path, pi_agent_dir):
    assert len(keys) >= 60
    COMPACTS.key = keys[0]
    session = pi_session
    log = open_debug_log({"PI_LOG": "debug", "PI_LOG_FILE": str(tmp_path / "debug.log"), "HOME": str(tmp_path)})
    log.observed(session)
    (tmp_path / "long.txt").write_text("".join(f"{key} {'filler ' * 400}\n" for key in keys))
    nested = {"list": [{"deep": keys[1]}, keys[2]], "command": "cat long.txt"}
    script.turn(text(" ".join(keys[3:20]), chunks=97), tool_call("bash", **nested))
    script.turn(tool_call("bash", command=f"echo {keys[20]} {keys[21]} >&2; exit 3"))
    script.turn(tool_call(keys[7], **{keys[8]: "a key as the name of an argument"})).turn(text("done"))
    history = PromptFile(pi_agent_dir / "prompt-history.jsonl", str, session.ctx.secrets.clean)

    prompt = " and ".join(keys[22:])
    history.append(prompt)
    await session.prompt(prompt)
    await session.set_session_name(f"about {keys[4]}")
    await session.execute_bash(f"echo {keys[5]}; cat long.txt")
    log.host.warning("the server said %s", keys[6])
    await session.compact()
    exported = [await session.export(tmp_path / name) for name in ("page.html", "copy.jsonl")]

    outputs = {Path(found) for found in re.findall(r"/\S+/pi-bash-\w+\.log", session.session_file.read_text())}
    files = [*pi_agent_dir.rglob("*"), session.session_file, tmp_path / "debug.log", *exported, *outputs]
    files = [each for each in files if each.is_file() and each.name != "redact.key"]
    leaks = [(each.name, key) for each in files for key in keys if secret_part(key) in each.read_text(errors="replace")]
    assert leaks == []
    assert len(outputs) == 2
    assert all("[secret:" in each.read_text() for each in (*exported, *outputs, tmp_path / "debug.log"))
    assert all(json.loads(line) for line in exported[1].read_text().splitlines())
    for each in outputs:
        each.unlink()
    for name in ("pi", "httpx", "httpx2"):
        for handler in [*logging.getLogger(name).handlers]:
            logging.getLogger(name).removeHandler(handler)
            handler.close()


async def test_a_key_in_pieces_is_kept_out_of_the_full_output(pi_session, script, keys, tmp_path):
    halves = f"printf '{keys[0][:9]}'; sleep 0.05; echo '{keys[0][9:]}'"
    script.turn(tool_call("bash", command=f"seq 1 3000; {halves}; seq 1 3000")).turn(text("ok"))
    await pi_session.prompt("go")

    found = re.search(r"/\S+/pi-bash-\w+\.log", script.requests[1].tool_results[0].text)
    content = Path(found[0]).read_text()
    Path(found[0]).unlink()
    assert keys[0] not in content
    assert content.count("\n") == 6001
    assert content.startswith("1\n2\n")


async def test_values_are_found_in_json_and_html(pi_session, script, monkeypatch, tmp_path):
    monkeypatch.setenv("SHOP_PASSWORD", 'a <b> & "c" word')
    script.turn(text('it is a <b> & "c" word'))
    await pi_session.prompt("what is it?")
    page = await pi_session.export(tmp_path / "page.html")

    written = page.read_text()
    assert "[secret:shop_password:" in written
    assert "&lt;b&gt; &amp;" not in written


@pytest.mark.pi(plugins={"redact": pi_redact}, settings={"redact": {"enabled": False}})
async def test_switched_off_nothing_is_replaced(pi_session, keys):
    assert pi_session.ctx.secrets.clean(keys[0]) is keys[0]


async def test_a_changed_setting_is_used_at_once(pi_session):
    before = pi_session.ctx.secrets.clean("shop-1234")
    pi_session.settings.set("redact.patterns", [r"shop-\d+"])

    assert before == "shop-1234"
    assert pi_session.ctx.secrets.clean("shop-1234").startswith("[secret:custom:")

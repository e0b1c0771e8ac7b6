"""The programs of docs/asgi.md: the application, and a client with fifty sessions."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

PAGE = Path(__file__).parents[4] / "docs" / "asgi.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.slow


async def test_fifty_sessions_of_a_user_are_answered_and_one_is_opened_again(
    tmp_path, monkeypatch, pi_agent_dir
) -> None:
    monkeypatch.chdir(tmp_path)
    work = tmp_path / "users" / "ann" / "work"
    work.mkdir(parents=True)
    for number in range(50):
        (work / f"part-{number}.txt").write_text("word " * number)
    names: dict = {}
    for program in PROGRAMS:
        exec(compile(program, str(PAGE), "exec"), names)  # noqa: S102 - the page's own program
    transport = httpx.ASGITransport(names["app"])
    mine = {"Authorization": "Bearer token-of-ann"}
    async with httpx.AsyncClient(transport=transport, base_url="http://pi.example", timeout=60) as client:
        answers = await names["fifty_at_once"](client)
        opened = (await client.get("/pi/sessions", headers=mine)).json()["sessions"]
        await client.delete(f"/pi/sessions/{opened[0]}", headers=mine)
        again = await client.post("/pi/sessions", headers=mine, json={"session": opened[0]})
        other = await client.get("/pi/sessions", headers={"Authorization": "Bearer token-of-bob"})
        nobody = await client.get("/pi/sessions")
    await names["sessions"].close()

    assert all(f"part-{number}.txt has {number} word" in answer for number, answer in enumerate(answers))
    assert len(opened) == 50
    assert again.json() == {"session": opened[0]}
    assert (other.json(), nobody.status_code) == ({"sessions": []}, 401)

"""How long pi looks for resources: ``uv run python bench/resources.py``.

A project with 500 skills (each in a folder of its own) and 200 prompt templates. ``cold``: nothing is kept from earlier
starts and every file is read and parsed; ``second start``: another process, nothing changed; ``ten changed``: ten files
were written in between; ``next prompt``: the same process looks again. Each start is a process of its own, which has
imported pi's core before the clock starts, but no plugin and no parser; files are in the page cache. The best of five.
``plain`` frontmatter is lines of ``key: value``, as nearly all skills have it; ``yaml`` has a list, which needs a YAML
parser. The bar is that of a cold start: 150 ms.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import show

SKILLS, TEMPLATES, CHANGED = 500, 200, 10
ROUNDS = 5
BAR = 150.0

BODY = "Read the file first, then change it.\n" * 40

START = """
import asyncio, json, sys, time
from pi_core import DefaultResourceLoader, PluginHost, Settings
from pi_core.conversation import AgentSession

async def main(cwd, agent_dir):
    settings = Settings.load(cwd, agent_dir, trust=True)
    host = PluginHost(settings)
    host.records
    loader = DefaultResourceLoader(cwd=cwd, settings=settings, host=host)

    async def look():
        started = time.perf_counter()
        skills, templates = await loader.load("skill"), await loader.load("prompt")
        return (time.perf_counter() - started) * 1000, len(skills.resources), len(templates.resources)

    print(json.dumps([await look(), await look()]))

asyncio.run(main(*sys.argv[1:]))
"""


def write(project: Path, form: str) -> None:
    extra = "metadata:\n  tags: [a, b]\n" if form == "yaml" else ""
    for number in range(SKILLS):
        folder = project / ".pi" / "skills" / f"skill-{number:03}"
        folder.mkdir(parents=True)
        head = f"name: skill-{number:03}\ndescription: Does thing {number} when the user asks for it\n{extra}"
        (folder / "SKILL.md").write_text(f"---\n{head}---\n{BODY}", encoding="utf-8")
    (project / ".pi" / "prompts").mkdir()
    for number in range(TEMPLATES):
        head = f"description: Template {number}\n{extra}"
        (project / ".pi" / "prompts" / f"t{number:03}.md").write_text(f"---\n{head}---\n$1 {BODY}", encoding="utf-8")


def start(project: Path, agent_dir: Path) -> tuple[float, float]:
    """Return the milliseconds of the first look and of the one after it."""
    environ = {**os.environ, "HOME": str(agent_dir.parent), "PI_CODING_AGENT_DIR": str(agent_dir)}
    done = subprocess.run(
        [sys.executable, "-c", START, str(project), str(agent_dir)],
        check=True,
        capture_output=True,
        text=True,
        env=environ,
    )
    (first, skills, templates), (again, _, _) = json.loads(done.stdout)
    assert (skills, templates) == (SKILLS, TEMPLATES), done.stdout
    return first, again


def measure(folder: Path, form: str) -> list[tuple[str, float, float | None]]:
    project, agent_dir = folder / "project", folder / "agent"
    agent_dir.mkdir()
    write(project, form)
    start(project, agent_dir)  # builds the index of plugins
    cold, second, changed, again = [], [], [], []
    for _ in range(ROUNDS):
        shutil.rmtree(agent_dir / "cache" / "resources")
        cold.append(start(project, agent_dir)[0])
        first, next_prompt = start(project, agent_dir)
        second.append(first)
        again.append(next_prompt)
        for number in range(CHANGED):
            os.utime(project / ".pi" / "skills" / f"skill-{number:03}" / "SKILL.md")
        changed.append(start(project, agent_dir)[0])
    return [
        (f"cold, {form} frontmatter", min(cold), BAR),
        ("second start", min(second), None),
        ("ten changed", min(changed), None),
        ("next prompt, same process", min(again), None),
    ]


def main() -> None:
    for form in ("plain", "yaml"):
        with tempfile.TemporaryDirectory() as folder:
            show(f"{SKILLS} skills and {TEMPLATES} templates", "ms", measure(Path(folder), form))


if __name__ == "__main__":
    main()

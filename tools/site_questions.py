"""Questions that people ask, and the pages that the site's own search has to find for them.

``tools/build_site.py`` asks them after each build. The search of the site is a JavaScript worker; it runs in Node,
with the index of the build. Without Node nothing is asked, and that is said.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {
    "install": "docs/install",
    "api key": "docs/keys",
    "ollama": "docs/models docs/keys plugins/providers/models docs/local-models",
    "undo changes": "docs/rewind docs/screen",
    "sandbox": "docs/sandbox",
    "limit cost": "docs/budgets",
    "claude.md": "plugins/prompt/context-files docs/reference/compatibility docs/from-the-original",
    "continue session": "docs/sessions docs/quickstart",
    "export html": "docs/sessions plugins/sessions/export-html",
    "mcp server": "docs/mcp",
    "write a plugin": "docs/first-plugin docs/hooks docs/providers docs/testing",
    "telemetry": "docs/network docs/opentelemetry docs/roadmap",
    "proxy": "docs/models docs/environment docs/sandbox",
    "dark theme": "docs/themes",
    "tmux": "docs/terminals",
    "github actions": "docs/automation docs/containers",
    "vulnerability": "SECURITY docs/threats",
    "subagent": "docs/agents examples/subagent examples",
    "exit code": "docs/automation docs/cli docs/batch",
    "claude subscription": "docs/keys",
    "stop asking permission": "docs/guardrails",
    "vs code": "docs/acp docs/notebooks docs/terminals",
    "migrate from claude code": "docs/import docs/from-claude-code",
    "private index": "docs/publish",
    "keyboard shortcut": "docs/keybindings docs/hooks/register_shortcuts docs/screen",
}
"""What is typed, and the addresses one of which has to be among the first results."""

FIRST = 5
"""Pages that a reader looks at."""

_WORKER = r"""
const fs = require("fs"), path = require("path");
const [site, questions] = [process.argv[1], JSON.parse(process.argv[2])];
const index = JSON.parse(fs.readFileSync(path.join(site, "search.json")));
const workers = path.join(site, "assets", "javascripts", "workers");
let answered;
global.self = { postMessage: message => answered(message) };
require(path.join(workers, fs.readdirSync(workers).find(name => /^search\..*\.js$/.test(name))));
const ask = message => new Promise(resolve => { answered = resolve; self.onmessage({ data: message }); });
(async () => {
  await ask({ type: 0, data: index });
  const found = {};
  for (const question of questions) {
    const answer = await ask({ type: 2, data: { input: question } });
    found[question] = answer.data.items.map(each => index.items[each.id].location);
  }
  console.log(JSON.stringify(found));
})();
"""


def check(site: Path) -> int:
    """Print the questions that the search does not answer; return 1 if there is one.

    Args:
        site: The folder of the built site.
    """
    if shutil.which("node") is None:
        print("Node is not installed: the questions were not asked")
        return 0
    command = ["node", "-e", _WORKER, str(site), json.dumps([*QUESTIONS])]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    failed = 0
    for question, expected in QUESTIONS.items():
        pages = list(dict.fromkeys(each.partition("#")[0].strip("/") for each in found[question]))[:FIRST]
        if not {*expected.split()} & {*pages}:
            print(f"search for {question!r}: expected {expected}, found {', '.join(pages) or 'nothing'}")
            failed += 1
    print(f"{len(QUESTIONS) - failed} of {len(QUESTIONS)} questions are answered by the first {FIRST} pages")
    return min(failed, 1)

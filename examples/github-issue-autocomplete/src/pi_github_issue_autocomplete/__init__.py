"""Completes `#12` and `#words` with the open issues of the repository, which `gh` lists."""

import json
import re

from pi_hookspecs import Completion, PiAPI, PiContext, hookimpl

LIST = ["issue", "list", "--state", "open", "--limit", "200", "--json", "number,title"]
WORD = re.compile(r"(?:^|\s)#([\w-]*)$")
MOST = 20


@hookimpl
def activate(pi: PiAPI) -> None:
    issues: list[dict] | None = None

    async def read(ctx: PiContext) -> list[dict]:
        nonlocal issues
        if issues is None:
            listed = await ctx.exec("gh", LIST, timeout=10)
            issues = json.loads(listed.stdout) if listed.code == 0 else []
            if listed.code != 0:
                reason = listed.stderr.strip().splitlines()[:1] or ["gh cannot be started"]
                ctx.ui.notify(f"No issues are completed: {reason[0]}", "warning")
        return issues

    @pi.on("session_start")
    def provide(ctx: PiContext) -> None:
        async def complete(text: str, cursor: int) -> list[Completion]:
            found = WORD.search(text[:cursor])
            if found is None:
                return []
            typed = found[1].lower()
            return [
                Completion(f"#{issue['number']}", description=issue["title"])
                for issue in await read(ctx)
                if str(issue["number"]).startswith(typed) or typed in issue["title"].lower()
            ][:MOST]

        ctx.ui.add_autocomplete_provider(complete)

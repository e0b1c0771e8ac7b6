"""Adds `/merge BRANCH`: merges a branch, and lets the model resolve the conflicts."""

from pi_hookspecs import PiAPI, PiContext, hookimpl

RESOLVE = """Merging the branch {branch} into this one left conflicts in these files:

{files}

Look at both sides of each conflict (git log --merge -p helps), resolve it so that the purpose of both survives, and
run git add for each file. Run the tests if there are any. Do not commit; say what you decided, and why."""


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("merge", description="Merge a branch; the model resolves conflicts")
    async def merge(args: str, ctx: PiContext) -> None:
        if not args or args.startswith("-"):
            ctx.ui.notify("Say which branch: /merge BRANCH", "warning")
            return
        await ctx.wait_for_idle()
        merged = await pi.exec("git", ["merge", "--no-edit", args])
        if merged.code == 0:
            ctx.ui.notify(merged.stdout.strip())
            return
        conflicts = await pi.exec("git", ["diff", "--name-only", "--diff-filter=U"])
        if not conflicts.stdout:
            ctx.ui.notify(f"Could not merge: {(merged.stderr or merged.stdout).strip()}", "error")
            return
        files = "\n".join(f"- {file}" for file in conflicts.stdout.splitlines())
        await pi.send_user_message(RESOLVE.format(branch=args, files=files))

"""Runs the commands of model and user in a sandbox, without network; only the working directory is writable.

The sandbox is bubblewrap; the setting ``sandbox`` can name another program and its arguments. If there is none, every
command fails: nothing runs unsandboxed. The tools write and edit refuse files outside the working directory.
"""

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import join

from pi_hookspecs import AbortSignal, PiAPI, PiContext, UserBashResult, hookimpl
from pi_tools import (
    BashOptions,
    EditOptions,
    LocalBashOperations,
    LocalEditOperations,
    LocalWriteOperations,
    WriteOptions,
    create_bash_tool,
    create_edit_tool,
    create_write_tool,
)

BWRAP = "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind {cwd} {cwd} --unshare-all --die-with-parent"


class SandboxedBash:
    """Runs a command inside another program that keeps it in."""

    def __init__(self, program: list[str]) -> None:
        self.program = program

    async def exec(
        self,
        command: str,
        cwd: str,
        *,
        on_data: Callable[[bytes], None],
        signal: AbortSignal,
        timeout: float | None,
        env: Mapping[str, str],
    ) -> int | None:
        wrapped = join([*(part.format(cwd=cwd) for part in self.program), "bash", "-c", command])
        return await LocalBashOperations().exec(wrapped, cwd, on_data=on_data, signal=signal, timeout=timeout, env=env)


class InsideOnly(LocalEditOperations, LocalWriteOperations):
    """Writes files below one folder alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    async def mkdir(self, path: str) -> None:
        self.check(path)
        await super().mkdir(path)

    async def write_file(self, path: str, content: bytes) -> None:
        self.check(path)
        await super().write_file(path, content)

    def check(self, path: str) -> None:
        if not Path(path).resolve().is_relative_to(self.folder):
            raise PermissionError(errno.EACCES, "outside the sandbox", path)


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.on("session_start")
    def close_in(ctx: PiContext) -> None:
        files = InsideOnly(ctx.cwd)
        pi.register_tool(create_bash_tool(ctx.cwd, BashOptions(operations=bash(ctx))))
        pi.register_tool(create_write_tool(ctx.cwd, WriteOptions(operations=files)))
        pi.register_tool(create_edit_tool(ctx.cwd, EditOptions(operations=files)))

    pi.on("user_bash", lambda ctx: UserBashResult(operations=bash(ctx)))


def bash(ctx: PiContext) -> SandboxedBash:
    return SandboxedBash(ctx.settings.get_str_list("sandbox", BWRAP.split()))

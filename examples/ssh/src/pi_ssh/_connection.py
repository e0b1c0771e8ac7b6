"""One command on another computer, ``ssh HOST COMMAND``; its error messages are raised as the matching ``OSError``."""

import asyncio
import errno
from collections.abc import Sequence
from shlex import quote

SYSTEM_ERRORS = {
    "No such file": errno.ENOENT,
    "Permission denied": errno.EACCES,
    "Is a directory": errno.EISDIR,
    "Not a directory": errno.ENOTDIR,
}
CONNECTION_FAILED = 255


async def run(host: str, cwd: str, command: str, stdin: bytes, good: Sequence[int]) -> bytes:
    """Return what a command prints.

    Raises:
        OSError: It failed there, with ``errno`` set, so that pi's tools report what they report for local files.
        RuntimeError: The computer was not reached.
    """
    pipe = asyncio.subprocess.PIPE
    remote_command = f"cd {quote(cwd)} && export LC_ALL=C && {command}"
    ssh = await asyncio.create_subprocess_exec("ssh", host, remote_command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        out, error = await ssh.communicate(stdin)
    finally:
        if ssh.returncode is None:  # cancelled
            ssh.kill()
    if ssh.returncode in good:
        return out
    message = error.decode(errors="replace").strip()
    if ssh.returncode == CONNECTION_FAILED:
        raise RuntimeError(f"ssh {host} failed: {message}")
    raise OSError(next((code for text, code in SYSTEM_ERRORS.items() if text in message), errno.EIO), message)

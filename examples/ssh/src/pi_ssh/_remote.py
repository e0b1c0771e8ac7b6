"""What pi's tools need of the place they work in, on another computer: each operation is one command there."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from shlex import join, quote

from pi_hookspecs import AbortSignal
from pi_ssh._connection import run
from pi_tools import LocalBashOperations


class Remote:
    """The operations of all seven tools, in one folder of one computer."""

    def __init__(self, host: str, cwd: str = ".") -> None:
        self.host = host
        self.cwd = cwd

    async def run(self, command: str, stdin: bytes = b"", good: Sequence[int] = (0,)) -> bytes:
        """Return what a command prints there."""
        return await run(self.host, self.cwd, command, stdin, good)

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
        remote_command = join(["ssh", self.host, f"cd {quote(self.cwd)} && {command}"])
        here = str(Path.cwd())
        return await LocalBashOperations().exec(
            remote_command, here, on_data=on_data, signal=signal, timeout=timeout, env=env
        )

    async def access(self, path: str) -> None:
        await self.run(f"head -c 0 < {quote(path)}")

    async def read_file(self, path: str) -> bytes:
        return await self.run(f"cat < {quote(path)}")

    async def mkdir(self, path: str) -> None:
        await self.run(f"mkdir -p {quote(path)}")

    async def write_file(self, path: str, content: bytes) -> None:
        whole = quote(f"{path}.pi-tmp")  # what arrives only in part replaces nothing
        await self.run(f"cat > {whole} && cp {whole} {quote(path)} && rm {whole}", content)

    async def exists(self, path: str) -> bool:
        return await self.run(f"test -e {quote(path)} && echo yes || true") != b""

    async def is_directory(self, path: str) -> bool:
        return await self.run(f"ls -d {quote(path)} > /dev/null && (test -d {quote(path)} && echo yes || true)") != b""

    async def entries(self, path: str) -> Sequence[tuple[str, bool]]:
        names = (await self.run(f"ls -1ALp {quote(path)}")).decode(errors="replace").splitlines()
        return [(name.removesuffix("/"), name.endswith("/")) for name in names]

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        test = f"-path {quote(f'./{pattern}')}" if "/" in pattern else f"-name {quote(pattern)}"
        show = r"\( -type d -exec printf '%s/\n' {} + -o -exec printf '%s\n' {} + \)"
        found = await self.run(f"cd {quote(path)} && find . -name .git -prune -o {test} {show} | head -n {limit}")
        return [line.removeprefix("./") for line in found.decode(errors="replace").splitlines()]

    async def search(self, arguments: Sequence[str], cwd: str, signal: AbortSignal) -> AsyncGenerator[bytes, None]:
        yield await self.run(f"cd {quote(cwd)} && rg {join(arguments)}", good=(0, 1))

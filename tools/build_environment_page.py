"""Write docs/environment.md from the groups below and from the providers' rows.

Run it with ``uv run python tools/build_environment_page.py``; with ``--check`` it writes nothing and fails if something
would change. ``tests/docs/test_environment_page.py`` compares the page with what the code reads.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from one_page import write_or_check

from pi_models import register_models

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "environment.md"

HEAD = """\
<!-- Made by tools/build_environment_page.py; change it there. -->

# Environment variables

Command-line options take precedence over variables, and variables over [settings](settings.md). An empty variable
counts as not set. `pi --help` lists the most important ones.
"""

OURS = {
    "PI_CODING_AGENT_DIR": "The folder of settings, keys, sessions and the index of plugins; by default `~/.pi/agent`",
    "PI_CODING_AGENT_SESSION_DIR": "The folder of sessions, like `--session-dir` and the setting `sessionDir`",
    "PI_DISABLE_PLUGINS": "Plugins to disable, separated by commas, like `--disable` and the setting"
    " `plugins.disabled`",
    "PI_OFFLINE": "`1` is like `--offline`: packages are not downloaded; requests to the model are still sent",
    "PI_CACHE_RETENTION": "How long providers keep a prompt in their caches: `none`, `short` or `long`",
    "PI_TRACE_HOOKS": "`1` writes each hook call to stderr: hook, plugin, time, whether it returned an answer",
    "PI_LOG": "`debug`, `info` or `warning` writes a [debug log](debugging.md) of that level; by default there is none",
    "PI_LOG_FILE": "The file of the debug log; by default `logs/pi-<process id>.log` in the agent directory",
    "PI_SHARE_VIEWER_URL": "A page that displays gists of `/share`; its address, `#` and the gist's id form the link",
    "PI_CLEAR_ON_SHRINK": "`1` or `0`, like the setting `terminal.clearOnShrink`",
    "PI_HARDWARE_CURSOR": "`1` or `0`, like the setting `showHardwareCursor`",
    "PI_HYPERLINKS": "`1`, `0` or `auto`, like the setting `terminal.hyperlinks`",
    "PI_IMAGE_PROTOCOL": "`kitty`, `iterm2`, `none` or `auto`, like the setting `terminal.images`",
    "PI_TRUE_COLOR": "`1`, `0` or `auto`, like the setting `terminal.trueColor`",
    "PI_OAUTH_URL_<PROVIDER>": "A gateway for sign-in, which replaces scheme and host of the provider's login"
    " pages; write the provider in capitals, with `_` for `-`: `PI_OAUTH_URL_GITHUB_COPILOT`",
    "PI_OAUTH_PORT_<PROVIDER>": "The port of a login's callback",
}

SYSTEM = {
    "HOME": "The home directory, `~`",
    "PATH": "Where shells, `uv`, `rg` and `fd` are found",
    "XDG_CONFIG_HOME": "The folder of git's ignore file, which searches respect, and of opencode's settings",
    "LD_LIBRARY_PATH": "Passed to the processes that supervise commands, as the only part of pi's environment",
    "TERM": "`dumb` means no colours",
    "NO_COLOR": "Any value means no colours",
    "TERM_PROGRAM": "The terminal's name, from which pi infers whether it has all colours and displays images",
    "KITTY_WINDOW_ID": "Set by Kitty, which displays images",
    "LC_TERMINAL": "`iTerm2` displays images; SSH passes this variable on",
    "WT_SESSION": "Set by Windows Terminal, which has all colours",
    "WSL_DISTRO_NAME": "Set by WSL, like the next one; pi's default keys there differ from those on Linux",
    "WSL_INTEROP": "See `WSL_DISTRO_NAME`",
    "BROWSER": "The program with which a login opens its page",
    "DISPLAY": "On Linux a login opens a browser if this, `WAYLAND_DISPLAY` or `BROWSER` is set",
    "WAYLAND_DISPLAY": "See `DISPLAY`",
    "SSH_CONNECTION": "On macOS and Windows a login opens no browser if this is set; on all systems, front ends do "
    "not use the desktop's clipboard",
    "SSH_TTY": "Like `SSH_CONNECTION`, for the clipboard",
    "SSH_AUTH_SOCK": "The [sandbox](sandbox.md) hides the socket that it names from programs, like those"
    " of the next three",
    "DOCKER_HOST": "See `SSH_AUTH_SOCK`",
    "GPG_AGENT_INFO": "See `SSH_AUTH_SOCK`",
    "DBUS_SESSION_BUS_ADDRESS": "See `SSH_AUTH_SOCK`",
    "PIP_CACHE_DIR": "The sandbox sets it to a temporary folder, like the next one",
    "UV_CACHE_DIR": "See `PIP_CACHE_DIR`",
    "UV_FIND_LINKS": "Folders or pages with wheels that `pi install` searches besides the index, like the next one",
    "PIP_FIND_LINKS": "See `UV_FIND_LINKS`",
    "HTTP_PROXY": "Proxy for requests to `http://` addresses; may be in lower case, like the next three",
    "HTTPS_PROXY": "Proxy for requests to `https://` addresses",
    "ALL_PROXY": "Proxy for all schemes that have no proxy of their own",
    "NO_PROXY": "Hosts, domains and networks (`10.0.0.0/8`) to reach without a proxy, separated by commas",
    "SSL_CERT_FILE": "Certificates to trust instead of the system's",
    "SSL_CERT_DIR": "A folder of such certificates",
    "NODE_EXTRA_CA_CERTS": "More certificates to trust; passed on to MCP servers, like all these variables",
    "REQUESTS_CA_BUNDLE": "Passed on to MCP servers",
    "CLAUDE_CONFIG_DIR": "`pi import claude`: Claude Code's folder; by default `~/.claude`",
    "CODEX_HOME": "`pi import codex`: codex's folder; by default `~/.codex`",
    "GEMINI_CLI_HOME": "`pi import gemini`: the folder that contains `.gemini`; by default the home folder",
    "XDG_DATA_HOME": "`pi import opencode`: the folder of its sessions and keys; by default `~/.local/share`",
    "RAY_ADDRESS": "`pi batch --engine ray`: the cluster, as `HOST:PORT`",
}

OPENTELEMETRY = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": "The address for spans and metrics; any of the first five turns them on",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "The address for spans, with the path",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "The address for metrics, with the path",
    "OTEL_TRACES_EXPORTER": "`otlp`, `console` (to stderr), `none`, or the name of an installed exporter of spans",
    "OTEL_METRICS_EXPORTER": "The same for metrics",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "`http/protobuf`, or `grpc` if the distribution with that exporter is installed",
    "OTEL_EXPORTER_OTLP_<SIGNAL>_PROTOCOL": "The same for only `TRACES` or `METRICS`",
    "OTEL_SDK_DISABLED": "`true` turns everything off",
    "OTEL_SERVICE_NAME": "Name of the service; by default `pi`",
    "OTEL_RESOURCE_ATTRIBUTES": "Attributes of everything that is sent; may contain `service.name`",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "`span_only` or `true` puts messages and results into spans",
    "TRACEPARENT": "The parent span of prompts, from the program that starts pi; programs that pi starts also get it",
    "TRACESTATE": "The trace state that belongs to `TRACEPARENT`",
}

COMMANDS = {
    "PI_CODING_AGENT": "`true`: an agent runs the command",
    "AI_AGENT": "`pi`: which agent it is",
    "PI_SESSION_ID": "The session's id",
    "PI_SESSION_FILE": "The session's file, if it is stored in one",
    "PI_PROVIDER": "The model's provider",
    "PI_MODEL": "The model's id",
    "PI_REASONING_LEVEL": "The reasoning effort: `off`, `low` and so on",
    "EDITOR": "A script that says that there is no terminal, and fails; as `VISUAL` and those of git",
    "PAGER": "`cat`, as those of git and others",
}

HOOKS = {
    "CLAUDE_PROJECT_DIR": "The working directory",
    "GEMINI_PROJECT_DIR": "The same",
    "GEMINI_CWD": "The same",
    "GEMINI_SESSION_ID": "The session's id",
}

PROVIDERS = {
    "ANTHROPIC_AUTH_TOKEN": "`anthropic`: a token that is sent as `Authorization: Bearer`, regardless of its form",
    "AWS_REGION": "`amazon-bedrock`: the region; overrides `AWS_DEFAULT_REGION`",
    "AWS_DEFAULT_REGION": "`amazon-bedrock`: the region",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "`amazon-bedrock`: the address for requests; overrides `AWS_ENDPOINT_URL`",
    "AWS_ENDPOINT_URL": "`amazon-bedrock`: the address for requests",
    "AWS_PROFILE": "`amazon-bedrock`: the profile in AWS's files; overrides `AWS_DEFAULT_PROFILE`",
    "AWS_DEFAULT_PROFILE": "`amazon-bedrock`: the profile in AWS's files",
    "AWS_CONFIG_FILE": "`amazon-bedrock`: the file of profiles; by default `~/.aws/config`",
    "AWS_SHARED_CREDENTIALS_FILE": "`amazon-bedrock`: the file of keys; by default `~/.aws/credentials`",
    "AWS_ACCESS_KEY_ID": "`amazon-bedrock`: an access key, with the next two",
    "AWS_SECRET_ACCESS_KEY": "`amazon-bedrock`: its secret",
    "AWS_SESSION_TOKEN": "`amazon-bedrock`: its token, if it is a temporary key",
    "AWS_SECURITY_TOKEN": "`amazon-bedrock`: the old name of `AWS_SESSION_TOKEN`",
    "AWS_CREDENTIAL_EXPIRATION": "`amazon-bedrock`: when that key expires",
    "AWS_ROLE_ARN": "`amazon-bedrock`: the role to assume with the token of the next one",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "`amazon-bedrock`: a file with a cluster's token",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "`amazon-bedrock`: the address from which a container gets keys",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "`amazon-bedrock`: the address from which a container gets keys",
    "AWS_EC2_METADATA_DISABLED": "`amazon-bedrock`: `true` means not to ask an EC2 instance for keys",
    "AZURE_OPENAI_BASE_URL": "`azure-openai-responses`: the address; overrides `AZURE_OPENAI_RESOURCE_NAME`",
    "AZURE_OPENAI_RESOURCE_NAME": "`azure-openai-responses`: the resource's name, which becomes part of the address",
    "AZURE_OPENAI_API_VERSION": "`azure-openai-responses`: the API version; by default `v1`",
    "AZURE_OPENAI_DEPLOYMENT_NAME_MAP": "`azure-openai-responses`: deployments by model, as `gpt-5=mine,o3=other`",
    "AZURE_OPENAI_AD_TOKEN": "`azure-openai-responses`: an Entra token instead of a key",
    "GOOGLE_CLOUD_PROJECT": "`google-vertex`, `google-gemini-cli`: the project; overrides `GCLOUD_PROJECT`",
    "GOOGLE_CLOUD_PROJECT_ID": "`google-gemini-cli`: the project",
    "GCLOUD_PROJECT": "`google-vertex`: the project",
    "GOOGLE_CLOUD_LOCATION": "`google-vertex`: the location, if the model's address names none",
    "GOOGLE_APPLICATION_CREDENTIALS": "`google-vertex`: a file of application default credentials",
    "CLOUDSDK_CONFIG": "`google-vertex`: gcloud's folder, in which pi looks for such a file",
    "GCE_METADATA_HOST": "`google-vertex`: the address of the metadata server, which provides the machine's token",
    "K_SERVICE": "`google-vertex`: set by Cloud Run, which has such a server",
    "GOOGLE_ANTIGRAVITY_CLIENT_ID": "`google-antigravity`: your own application to sign in with",
    "GOOGLE_ANTIGRAVITY_CLIENT_SECRET": "`google-antigravity`: its secret",
    "OLLAMA_HOST": "`ollama`: the server's address, in Ollama's own format",
    "OLLAMA_MODELS": "`llamacpp`: the folder of Ollama's models; by default `~/.ollama/models`",
    "HF_HUB_CACHE": "`llamacpp`: the folder of Hugging Face's cache; by default `hub` in `HF_HOME`",
    "HF_HOME": "`llamacpp`: Hugging Face's folder; by default `huggingface` in `XDG_CACHE_HOME`",
    "XDG_CACHE_HOME": "`llamacpp`: the folder of all caches; by default `~/.cache`",
}

ADDRESSES = """\
These variables send a provider's requests, including its key, to another address, such as a gateway. They have the
format of the vendor's own library. A `baseUrl` in [models.json](models.md) overrides them.\
"""

TAIL = """
## Variables of the original pi that have no effect here

`PI_PACKAGE_DIR` (this pi finds its files with Python's import system), `PI_SKIP_VERSION_CHECK` and `PI_TELEMETRY`
(pi does not check for new versions or report usage), `PI_SELF_UPDATE_COMMAND`, `PI_PROGRAM_STATUS`,
`PI_CLIPBOARD_OSC52`, `PI_CODEMODE_MAX_WORKERS`, `PI_RADIUS_GATEWAY` and `PI_TUI_ESC_TIMEOUT`. `pi doctor --original`
names those that you have set.
"""


def page() -> str:
    """Return the page."""
    lines = [HEAD, "## pi", "", *_table(OURS), "", "## The system", "", *_table(SYSTEM), ""]
    lines += ["## Set for the commands that tools run", "", *_table(COMMANDS), ""]
    lines += ["## Set for the programs of hooks.json", "", "The names are those of [other agents](import.md).", ""]
    lines += [*_table(HOOKS), ""]
    lines += ["## OpenTelemetry", "", "They need the [plugin](opentelemetry.md).", ""]
    lines += [*_table(OPENTELEMETRY), ""]
    lines += ["## Keys of providers", "", "You can also store a key with `pi auth login`.", ""]
    lines += [
        "| provider | variables; the first one that is set is used | variables in the address |",
        "| --- | --- | --- |",
        *_keys(),
        "",
    ]
    lines += ["## Addresses of providers", "", ADDRESSES, "", *_table(_addresses()), ""]
    lines += ["## Other variables of providers", "", *_table(PROVIDERS)]
    return "\n".join([*lines, TAIL])


def _table(rows: dict[str, str]) -> Iterator[str]:
    yield from ("| variable | meaning |", "| --- | --- |")
    yield from (f"| `{name}` | {meaning} |" for name, meaning in rows.items())


def _keys() -> Iterator[str]:
    for row in sorted(register_models(), key=lambda row: row.id):
        placeholders = re.findall(r"\{([A-Z_]+)\}", row.base_url)
        if row.key_variables or placeholders:
            yield f"| `{row.id}` | {_names(row.key_variables)} | {_names(placeholders)} |"


def _addresses() -> dict[str, str]:
    """Return the variables that replace a provider's address, with what they replace of it."""
    variables = {}
    for row in sorted(register_models(), key=lambda row: row.id):
        for name in re.findall(r"\{([A-Z_]+)\}", row.base_url_from):
            version = row.base_url_from.partition("}")[2]
            variables[name] = f"`{row.id}`: in place of `{row.base_url.removesuffix(version)}`"
    return variables


def _names(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))

"""Reading of keys and passwords that lie outside the project: what is printed goes to the model and its provider.

The project's own ``.env`` may be read: people ask for that, and redaction removes the keys in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["reads_credentials"]

_PRINTERS = frozenset(
    "cat tac head tail less more most nl od xxd hexdump strings grep egrep fgrep zgrep rg ag ack jq yq cut paste diff "
    "cmp comm sort uniq fold fmt column bat view awk sed base64 base32 . source sqlite3 plutil vim vi nano "
    "mapfile".split()
)
"""Programs that print what files hold; many others are asked about anyway when they name such a file."""

_AT_HOME = re.compile(
    "|".join(  # noqa: FLY002 - a row for each kind is easier to read than one line
        [
            r"\.ssh/(?!known_hosts|config$|authorized_keys$|.*\.pub$).+|\.(ssh|gnupg|aws|kube|docker)/?",
            r"\.gnupg/(private-keys|secring).*",
            r"\.(netrc|npmrc|yarnrc(\.yml)?|pypirc|git-credentials|pgpass|my\.cnf|mylogin\.cnf|s3cfg|boto|vault-token)",
            r"\.(terraformrc|databrickscfg|smbcredentials|wakatime\.cfg)",
            r"\.aws/(credentials|sso/.*|cli/cache/.*)",
            r"\.docker/config\.json|\.kube/config|\.fly/config\.yml|\.m2/settings.*\.xml|\.gradle/gradle\.properties",
            r"\.(gem|cargo)/credentials.*|\.terraform\.d/credentials.*|\.(config/)?composer/auth\.json|\.vnc/passwd",
            r"\.cache/huggingface/token|\.(huggingface|azure|gemini|oci|age|kaggle|cloudflared|snowflake)/.*",
            r"\.codex/auth\.json|\.claude/\.credentials\.json|\.pi/.*auth\.json",
            r"\.config/(gh(/hosts\.yml)?|containers/auth\.json)",
            r"\.config/(hub|heroku|netlify|configstore|glab-cli|gcloud|rclone|op|doctl|sops|github-copilot|linode-cli)(/.*)?",
            r"\.config/(google-chrome|chromium|BraveSoftware|microsoft-edge|Signal|Slack|discord)(/.*)?",
            r"\.(password-store|local/share/keyrings|mozilla|thunderbird|bitcoin|ethereum|electrum)(/.*)?",
            r"Library/(Keychains|Cookies|Application Support/(Google/Chrome|Firefox|BraveSoftware|1Password))(/.*)?",
            r"\.(bash|zsh|sh|python|node_repl|psql|mysql|rediscli|sqlite)_history|\.histfile|.*/fish_history",
        ]
    )
)
"""Files with keys below the home folder."""

_OF_THE_SYSTEM = re.compile(
    r"/etc/(g?shadow-?|sudoers(\.d/.*)?|ssh/ssh_host_\w+_key|ssl/private(/.*)?|krb5\.keytab|letsencrypt/(live|archive)/.*"
    r"|NetworkManager/system-connections/.*|wpa_supplicant/.*)|/proc/[^/]+/(environ|mem)|(/var)?/run/secrets(/.*)?"
    r"|/dev/k?mem"
)


def reads_credentials(call: Call) -> Iterator[Judgement]:
    """Yield a finding about a program that prints keys, passwords or the shell's history."""
    words = call.arguments if call.name in _PRINTERS else ()
    for word in (*words, *call.command.reads):
        if _is_credential(call, word.text if word.known else word.source.strip("\"'")):
            yield (
                "ask",
                "secrets",
                f"it reads {word.text if word.known else word.source!r}, which contains keys or passwords",
            )
            return


def _is_credential(call: Call, text: str) -> bool:
    home = call.places.home.rstrip("/") + "/"
    for path in dict.fromkeys(call.places.meanings(text.removeprefix("@"))):
        if _OF_THE_SYSTEM.fullmatch(path) or (path.startswith(home) and _AT_HOME.fullmatch(path[len(home) :])):
            return True
    return False

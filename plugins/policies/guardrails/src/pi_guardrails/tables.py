"""Tables of findings that follow from a program's name and arguments alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.call import has_words
from pi_guardrails.files import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["by_name"]

_REMOTE = ("remote-code", "it reaches another computer, where nothing is guarded")
_POWER = ("system", "it stops the computer")
_RULES = ("system", "it changes the firewall")
_USERS = ("system", "it changes who may use the computer")
_KERNEL = ("system", "it changes the running system")
_VOLUMES = ("disk", "it changes volumes or partitions")
_LATER = ("schedule", "it runs commands later, unattended")
_TERMINAL = ("dynamic-command", "it runs commands in another terminal, where they are not judged")
_JOBS = ("schedule", "it changes what runs later, unattended")
_SERVICES = ("system", "it changes services of the computer")
_TRASH = ("delete", "it moves files to the trash")
_PUBLISH = ("publish", "it publishes, which often cannot be undone")
_CLOUD = ("infrastructure", "it deletes or changes what others may use")
_IMAGES = ("infrastructure", "it deletes images, volumes or containers")
_SYSTEM_PACKAGES = ("system", "it changes the programs of the computer")
_NETWORK = ("system", "it changes the network of the computer")
_PACKAGES = ("system", "it uninstalls programs")
_DATABASE = ("database", "it empties a database, or drops it")
_SETTINGS = ("environment", "it changes settings with which later commands do something else")
_UNDONE = ("git-discard", "it throws away work that is not committed, or commits")
_KEYS = ("delete", "it deletes keys")

_ALWAYS: dict[str, tuple[str, str]] = {
    **dict.fromkeys("shutdown reboot halt poweroff init telinit".split(), _POWER),
    **dict.fromkeys("iptables ip6tables nft ufw firewall-cmd pfctl".split(), _RULES),
    **dict.fromkeys("useradd userdel usermod groupadd groupdel passwd chpasswd visudo chsh adduser".split(), _USERS),
    **dict.fromkeys("insmod rmmod modprobe kexec mount umount swapoff chattr setfacl setcap".split(), _KERNEL),
    **dict.fromkeys("cryptsetup lvremove vgremove pvremove mdadm hdparm".split(), _VOLUMES),
    **dict.fromkeys("at batch systemd-run launchctl".split(), _LATER),
    **dict.fromkeys("trash trash-put trash-empty rmtrash".split(), _TRASH),
    **dict.fromkeys("mosh ansible ansible-playbook telnet rsh rlogin ssh-copy-id".split(), _REMOTE),
    **dict.fromkeys("xterm gnome-terminal konsole kitty alacritty xfce4-terminal wezterm osascript".split(), _TERMINAL),
    **dict.fromkeys("remove-item schtasks ldapdelete".split(), ("delete", "it deletes, or plans what runs later")),
    **dict.fromkeys(
        "sftp ftp lftp tftp smbclient sshfs".split(), ("exfiltration", "it exchanges files with another computer")
    ),
    "capsh": ("privileges", "it starts a shell with other rights"),
    "dropdb": ("database", "it drops a database"),
    "dropuser": ("database", "it drops a user"),
    **dict.fromkeys("update-alternatives setenforce csrutil spctl auditctl losetup".split(), _KERNEL),
    **dict.fromkeys("aws-nuke cloud-nuke gcp-nuke azure-nuke leapp-nuke".split(), _CLOUD),
    "parallel": ("dynamic-command", "what it runs is known only when it runs"),
    "xkill": ("processes", "it ends processes by name, perhaps others than intended"),
}

_UNLESS: dict[str, tuple[str, str, str]] = {
    "abduco": ("-l", *_TERMINAL),
    "byobu": ("ls", *_TERMINAL),
    "crontab": ("-l", *_JOBS),
    "vercel": ("ls list inspect logs dev build whoami pull link --version --help", *_CLOUD),
    "dpkg": ("-l -L -s -S -p --list --status --search --listfiles --print-architecture --version", *_SYSTEM_PACKAGES),
    "rpm": ("-q -qa -ql -qi -qf -V --version --query", *_SYSTEM_PACKAGES),
    "installer": ("-pkginfo -dominfo", *_SYSTEM_PACKAGES),
    "dtach": ("--help", *_TERMINAL),
    "screen": ("-ls -list -v", *_TERMINAL),
    "ssh": ("-V -Q", *_REMOTE),
    "systemctl": (
        "status show cat is-active is-enabled is-failed list-units list-unit-files --version",
        *_SERVICES,
    ),
    "tmux": (
        "ls list-sessions lsw list-windows lsp list-panes has has-session capturep capture-pane info -V",
        *_TERMINAL,
    ),
    "zellij": ("ls list-sessions --version", *_TERMINAL),
}
"""The harmless first arguments, and the finding for all others."""


def _rows(words: str, reason: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple((each.replace("_", " "), *reason) for each in words.split())


_REMOVE = "remove purge autoremove erase uninstall rm del delete -R -Rs -Rns"

_WITH_WORDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    **dict.fromkeys(("cargo", "uv", "poetry", "flit", "hatch"), _rows("publish unpublish yank", _PUBLISH)),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn"),
        (
            *_rows("publish unpublish deprecate dist-tag_add owner_add", _PUBLISH),
            *_rows("config_set config_delete config_edit", _SETTINGS),
        ),
    ),
    **dict.fromkeys(
        "apt apt-get aptitude dnf yum zypper apk pacman brew snap flatpak pkg port choco scoop winget".split(),
        _rows(_REMOVE, _PACKAGES),
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        (
            *_rows(
                "system_prune volume_rm volume_prune image_prune container_prune builder_prune network_prune rm_-f "
                "rm_-af rm_-fv rm_--force rm_-vf container_rm rmi compose_down_-v compose_down_--volumes compose_rm "
                "stack_rm swarm_leave context_use context_rm system_reset volume_import",
                _IMAGES,
            ),
            *_rows("push image_push", _PUBLISH),
        ),
    ),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _rows("remove uninstall env_remove", _PACKAGES)),
    **dict.fromkeys(
        ("kubectl", "oc"),
        _rows(
            "delete drain cordon taint scale apply create replace patch edit set rollout_restart rollout_undo cp run "
            "label annotate expose autoscale debug attach",
            _CLOUD,
        ),
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), _rows("destroy apply state_rm taint import", _CLOUD)),
    **dict.fromkeys(("fly", "flyctl"), _rows("destroy apps_destroy deploy scale secrets_set", _CLOUD)),
    **dict.fromkeys(("mvn", "mvnw"), _rows("deploy release:perform", _PUBLISH)),
    **dict.fromkeys(("gradle", "gradlew"), _rows("publish uploadArchives publishToMavenCentral", _PUBLISH)),
    **dict.fromkeys(("serverless", "sls", "sam", "eb"), _rows("deploy remove delete terminate", _CLOUD)),
    **dict.fromkeys(("stack", "cabal", "anaconda", "snapcraft"), _rows("upload", _PUBLISH)),
    **dict.fromkeys(("nuget", "oras", "crane", "pod"), _rows("push delete trunk_push", _PUBLISH)),
    **dict.fromkeys(("rails", "rake"), _rows("db:drop db:reset db:purge db:truncate_all db:drop:_unsafe", _DATABASE)),
    "artisan": _rows("migrate:fresh migrate:reset db:wipe migrate:refresh", _DATABASE),
    "aws": _rows("s3_rm s3_rb s3_mb s3_mv s3_presign --delete", _CLOUD),
    "az": _rows(
        "delete purge upload upload-batch create update start stop restart deallocate set add remove invoke", _CLOUD
    ),
    "date": _rows("-s --set", _KERNEL),
    "defaults": _rows("write delete import", _SETTINGS),
    "direnv": _rows("allow permit grant", ("dynamic-command", "it lets the folder's .envrc run from now on")),
    "b2": _rows("upload-file upload_file sync", _CLOUD),
    "doctl": _rows("delete destroy", _CLOUD),
    "gcloud": _rows(
        "delete deploy create update set add-iam-policy-binding remove-iam-policy-binding enable disable reset start "
        "stop resize import export ssh scp submit patch rollback",
        _CLOUD,
    ),
    "gem": _rows("push yank", _PUBLISH),
    "gh": (
        *_rows(
            "repo_delete release_delete repo_edit repo_archive repo_rename secret_set secret_delete variable_set "
            "pr_merge issue_delete workflow_run workflow_disable ssh-key_add gpg-key_add -X_DELETE --method_DELETE "
            "auth_token cache_delete run_delete codespace_delete",
            _CLOUD,
        ),
        *_rows("alias_set extension_install", ("dynamic-command", "it adds commands that run any program")),
        *_rows("gist_create release_upload release_create", _PUBLISH),
    ),
    "gio": _rows("trash remove", _TRASH),
    "go": _rows("env_-w", _SETTINGS),
    "gsutil": _rows("rm rb", _CLOUD),
    "hdiutil": _rows("erasevolume eraseKeys burn detach", _VOLUMES),
    "helm": _rows("uninstall delete rollback install upgrade", _CLOUD),
    "heroku": _rows(
        "run pg:reset pg:push pg:pull pg:psql apps:destroy addons:destroy ps:scale ps:restart config:set config:unset "
        "releases:rollback maintenance:on domains:remove",
        _CLOUD,
    ),
    "jj": _rows("abandon restore undo op_restore op_abandon", _UNDONE),
    "hg": _rows("update_-C update_--clean up_-C revert strip purge rollback", _UNDONE),
    "svn": _rows("revert cleanup_--remove-unversioned", _UNDONE),
    "glab": _rows("mr_merge mr_close mr_delete repo_delete release_delete variable_set ci_run issue_delete", _CLOUD),
    "loginctl": _rows("enable-linger terminate-user terminate-session kill-user poweroff reboot", _SERVICES),
    "manage.py": (
        *_rows("flush sqlflush reset_db zero sqlclear dropdb", _DATABASE),
        *_rows(
            "shell_-c shell_--command shell_plus_-c runscript dbshell_-c",
            ("inline-code", "it runs code that is not read here"),
        ),
    ),
    **dict.fromkeys(("alembic", "flask", "aerich"), _rows("downgrade", _DATABASE)),
    **dict.fromkeys(
        ("dbmate", "goose", "migrate", "sqlx", "diesel", "atlas"), _rows("down drop reset revert", _DATABASE)
    ),
    **dict.fromkeys(("flyway", "liquibase"), _rows("clean dropAll drop-all rollback undo", _DATABASE)),
    **dict.fromkeys(
        ("typeorm", "sequelize", "sequelize-cli", "knex"),
        _rows("schema:drop migration:revert db:drop db:migrate:undo:all db:migrate:undo migrate:rollback", _DATABASE),
    ),
    **dict.fromkeys(("s3cmd", "mc", "s5cmd", "minio"), _rows("del rm rb sync mirror", _CLOUD)),
    **dict.fromkeys(
        ("restic", "borg", "kopia", "duplicity"),
        _rows("forget prune delete remove-all-but-n-full snapshot_delete", ("delete", "it deletes backups")),
    ),
    **dict.fromkeys(("etcdctl", "zkcli", "consul"), _rows("del delete deleteall rmr", _CLOUD)),
    **dict.fromkeys(("valkey-cli", "keydb-cli"), _rows("FLUSHALL FLUSHDB flushall flushdb", _DATABASE)),
    "mongorestore": _rows("--drop", _DATABASE),
    "rabbitmqctl": tuple(
        (each, *_DATABASE) for each in ("reset", "force_reset", "purge_queue", "delete_queue", "delete_vhost")
    ),
    "nomad": _rows("stop job_stop system_gc", _CLOUD),
    "chezmoi": _rows("purge apply destroy", ("outside", "it changes files in the home folder")),
    "mix": _rows("ecto.drop ecto.reset hex.publish", _DATABASE),
    "hostnamectl": _rows("set-hostname hostname", _KERNEL),
    "journalctl": _rows("--vacuum-time --vacuum-size --rotate", _KERNEL),
    "ip": _rows("down del delete add flush set", _NETWORK),
    "ifconfig": _rows("down up", _NETWORK),
    "nmcli": _rows("off down delete modify", _NETWORK),
    "networksetup": _rows("-setdnsservers -setwebproxy -setairportpower", _NETWORK),
    "pg_restore": _rows("--clean -c", _DATABASE),
    "service": _rows("stop start restart reload", _SERVICES),
    "sysctl": _rows("-w -p --write --load --system", _KERNEL),
    "timedatectl": _rows("set-time set-timezone set-ntp", _KERNEL),
    "tmutil": _rows("delete deletelocalsnapshots disable", _VOLUMES),
    "xattr": _rows("-d -dr -rd -c -cr com.apple.quarantine", _KERNEL),
    "mysqladmin": _rows("drop", _DATABASE),
    "pip": _rows("config_set config_edit", _SETTINGS),
    "prisma": _rows("reset db_push", _DATABASE),
    "pulumi": _rows("destroy up", _CLOUD),
    "rclone": _rows("purge delete deletefile sync rmdirs cleanup", _CLOUD),
    "redis-cli": _rows(
        "FLUSHALL FLUSHDB flushall flushdb SHUTDOWN shutdown", ("database", "it empties a database, or stops it")
    ),
    "security": _rows("delete-keychain delete-generic-password dump-keychain", _KEYS),
    "supabase": _rows("db_reset", _DATABASE),
    "twine": _rows("upload", _PUBLISH),
    "vagrant": _rows("ssh destroy", _REMOTE),
    "wp": _rows("db_drop db_reset site_empty", _DATABASE),
    "zfs": _rows("destroy rollback", _VOLUMES),
    "zpool": _rows("destroy", _VOLUMES),
    "adb": _rows("shell uninstall root remount", _REMOTE),
}


_AWS_READS = re.compile(
    r"|help|(s3|configure|sso|sts|logs|ecr) .*|[\w-]+ (describe|list|get|head|wait|batch-get|lookup|search).*"
)
_AWS_OPTIONS = frozenset("--profile --region --output --endpoint-url --query --ca-bundle --color".split())
_VERBS = frozenset(
    "delete deploy deregister destroy drop erase nuke obliterate publish purge rollback teardown terminate undeploy "
    "unpublish wipe".split()
)
_PLACES_OF_VERBS = 3
_NO_VERBS = READERS | frozenset(
    "ack ag ant apropos awk bazel cargo cmake docker git go gradle help history info jest just kubectl make man "
    "mocha mvn node oc npm npx pip pip3 pnpm podman pytest python python3 rake rg rsync ruby rustc sed select "
    "sort tldr tox tr uv vitest whatis xargs yarn".split()
)
"""Programs whose arguments may be any words; for all others, subcommands are meaningful."""


def by_name(call: Call) -> Iterator[Judgement]:
    """Yield findings about a program with these words among its arguments."""
    name, arguments = call.name, call.arguments
    if name in _ALWAYS and call.texts not in (["--version"], ["--help"]):
        yield "ask", *_ALWAYS[name]
    if name in _UNLESS:
        harmless, rule, why = _UNLESS[name]
        if not arguments or arguments[0].text not in harmless.split():
            yield "ask", rule, why
    for needed, rule, why in _WITH_WORDS.get(name, ()):
        if has_words(arguments, needed):
            yield "ask", rule, why
    if name in ("npm", "pnpm") and _sets(call):
        yield "ask", *_SETTINGS
    if name == "aws" and not _AWS_READS.fullmatch(_aws_action(call)):
        yield "ask", *_CLOUD
    if name not in _NO_VERBS and not name.endswith((".py", ".js", ".ts", ".rb")):
        verb = next((word.text for word in call.operands[:_PLACES_OF_VERBS] if word.text in _VERBS), None)
        if verb is not None or call.has_long("--delete", "--purge", "--destroy"):
            yield "ask", "infrastructure", f"it may {verb or 'delete'} what cannot be brought back"


def _sets(call: Call) -> bool:
    """Whether ``npm set``, or ``npm c set``, changes a setting."""
    first, second = [*(word.text for word in call.operands[:2]), "", ""][:2]
    return first == "set" or (first in ("c", "conf", "config") and second in ("set", "delete", "edit", "rm"))


def _aws_action(call: Call) -> str:
    """Return service and operation, skipping global options before them."""
    pairs = zip(("", *call.texts), call.texts, strict=False)
    return " ".join([text for before, text in pairs if not text.startswith("-") and before not in _AWS_OPTIONS][:2])

"""Tables of findings that follow from a program's name and arguments alone."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pi_guardrails.call import has_words
from pi_guardrails.files import READERS
from pi_guardrails.packages import MANAGERS, installs_declared
from pi_guardrails.reasons import (
    AGENTS,
    BRINGS,
    CLOUD,
    DATABASE,
    ENDS,
    FLASHES,
    JOBS,
    KERNEL,
    LATER,
    NETWORK,
    OFFERS,
    POWER,
    PUBLISH,
    RECORDS,
    REMOTE,
    RIGHTS,
    RULES,
    SCANS,
    SECRETS,
    SENDS,
    SERVERS,
    SERVICES,
    SETTINGS,
    SOURCES,
    SYSTEM_PACKAGES,
    TERMINAL,
    TRASH,
    UNDONE,
    USERS,
    VOLUMES,
)
from pi_guardrails.subcommands import BEGINNING_WITH, WITH_WORDS
from pi_guardrails.wrappers import wrapper_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["by_name"]

_ALWAYS: dict[str, tuple[str, str]] = {
    **dict.fromkeys("shutdown reboot halt poweroff init telinit rtcwake".split(), POWER),
    **dict.fromkeys("iptables ip6tables nft ufw firewall-cmd pfctl ipset ebtables".split(), RULES),
    **dict.fromkeys(
        "useradd userdel usermod groupadd groupdel groupmod passwd chpasswd visudo vipw vigr chsh chfn adduser "
        "addgroup deluser delgroup gpasswd newusers dseditgroup sysadminctl pam-auth-update".split(),
        USERS,
    ),
    **dict.fromkeys(
        "insmod rmmod modprobe kexec umount swapon swapoff chattr setfacl setcap debugfs aa-disable aa-complain "
        "aa-teardown semanage setsebool update-ca-certificates update-ca-trust kextload kextunload bless "
        "tccutil".split(),
        KERNEL,
    ),
    **dict.fromkeys(
        "cryptsetup lvremove lvreduce lvresize vgremove vgreduce pvremove mdadm hdparm badblocks sg_format resize2fs "
        "tune2fs e2fsck fsck xfs_repair xfs_growfs partprobe kpartx efibootmgr grub-install update-grub grub-mkconfig "
        "flashrom dcfldd ddrescue qemu-nbd mformat btrfstune bcdedit diskpart "
        "vssadmin wbadmin asr".split(),
        VOLUMES,
    ),
    **dict.fromkeys(
        "esptool esptool.py avrdude dfu-util jlinkexe jlink bossac teensy_loader_cli stm32flash lpc21isp iceprog "
        "openfpgaloader".split(),
        FLASHES,
    ),
    **dict.fromkeys("bleachbit tmpreaper tmpwatch rmlint".split(), ("delete", "it chooses files and deletes them")),
    **dict.fromkeys("cpan cpanm easy_install krew".split(), BRINGS),
    **dict.fromkeys("apt-key add-apt-repository apt-add-repository yum-config-manager".split(), SOURCES),
    **dict.fromkeys("do-release-upgrade makepkg".split(), SYSTEM_PACKAGES),
    **dict.fromkeys("sudoedit run0 dzdo machinectl systemd-nspawn pmexec".split(), RIGHTS),
    **dict.fromkeys("killall5 skill slay taskkill".split(), ENDS),
    **dict.fromkeys("scancel qdel bkill condor_rm oardel".split(), ENDS),
    **dict.fromkeys("sbatch srun salloc qsub bsub condor_submit oarsub".split(), REMOTE),
    **dict.fromkeys("pg_dropcluster pg_resetwal pg_archivecleanup mysqld_safe".split(), DATABASE),
    **dict.fromkeys("semantic-release release-it goreleaser gh-pages ghp-import surge np".split(), PUBLISH),
    **dict.fromkeys("pssh parallel-ssh pdsh clush dsh mussh salt salt-ssh knife autossh".split(), REMOTE),
    **dict.fromkeys("chef-client salt-call".split(), CLOUD),
    **dict.fromkeys("icacls takeown cipher mshta rundll32 regsvr32 msiexec bitsadmin certutil wmic".split(), KERNEL),
    **dict.fromkeys("kubectx kubens".split(), SETTINGS),
    **dict.fromkeys("tcpdump tshark dumpcap scrot xwd screencapture gcore arecord rec".split(), RECORDS),
    **dict.fromkeys("nmap masscan zmap hydra medusa ncrack".split(), SCANS),
    **dict.fromkeys("openvpn openconnect wg-quick pppd".split(), NETWORK),
    **dict.fromkeys(
        "update-rc.d initctl insserv invoke-rc.d a2dissite a2ensite a2enmod a2dismod s6-svc".split(), SERVICES
    ),
    **dict.fromkeys("pbpaste wl-paste".split(), RECORDS),
    "wall": ("system", "it writes to the terminals of all users"),
    **dict.fromkeys("at batch systemd-run".split(), LATER),
    **dict.fromkeys("trash trash-put trash-empty rmtrash".split(), TRASH),
    **dict.fromkeys("mosh ansible ansible-playbook telnet rsh rlogin ssh-copy-id".split(), REMOTE),
    **dict.fromkeys("xterm gnome-terminal konsole kitty alacritty xfce4-terminal wezterm osascript".split(), TERMINAL),
    **dict.fromkeys(
        "remove-item schtasks ldapdelete".split(), ("delete", "it deletes something, or schedules commands")
    ),
    **dict.fromkeys(
        "sftp ftp lftp tftp smbclient sshfs".split(), ("exfiltration", "it exchanges files with another computer")
    ),
    "capsh": ("privileges", "it starts a shell with other privileges"),
    **dict.fromkeys("lp lpr ncftpput ncftp swaks sendmail mutt mailx".split(), SENDS),
    **dict.fromkeys("memcflush memflush pgloader".split(), DATABASE),
    **dict.fromkeys(
        "postsuper asterisk nsupdate varnishadm ldapmodify ldapadd ldappasswd ldapmodrdn longhornctl kadmin".split(),
        SERVERS,
    ),
    "nix-collect-garbage": ("delete", "it deletes what was built or installed"),
    "dropdb": ("database", "it drops a database"),
    "dropuser": ("database", "it drops a user"),
    **dict.fromkeys("update-alternatives setenforce csrutil spctl auditctl losetup".split(), KERNEL),
    **dict.fromkeys("aws-nuke cloud-nuke gcp-nuke azure-nuke leapp-nuke".split(), CLOUD),
    "parallel": ("dynamic-command", "what it runs is known only at run time"),
    "xkill": ENDS,
}

_UNLESS: dict[str, tuple[str, str, str]] = {
    "govc": ("ls about find version env help object.collect metric.ls events", *SERVERS),
    "rndc": ("status", *SERVERS),
    "postqueue": ("-p -j", *SERVERS),
    "fail2ban-client": ("status ping version get -V --version -d", *SERVERS),
    "authselect": ("current list show check list-features test", *USERS),
    "haproxy": ("-c -v -vv", *SERVERS),
    "caddy": (
        "run validate fmt adapt version list-modules build-info environ help file-server respond hash-password",
        *SERVERS,
    ),
    "squid": ("-v --version --help", *SERVERS),
    "bolt": ("--version help inventory module", *REMOTE),
    **dict.fromkeys(
        ("xdotool", "ydotool", "cliclick", "wtype"),
        ("search getactivewindow getmouselocation version p:", "system", "it types and clicks in other windows"),
    ),
    "launchctl": ("list print blame version help", *LATER),
    "mount": ("-l --show-labels", *KERNEL),
    "nvme": ("list list-subsys id-ctrl id-ns smart-log version help", *VOLUMES),
    "fastboot": ("devices getvar help --version", *VOLUMES),
    "fwupdmgr": ("get-devices get-updates get-history get-topology --version", *VOLUMES),
    "dmsetup": ("ls info status table version", *VOLUMES),
    "softwareupdate": ("-l --list --history", *SYSTEM_PACKAGES),
    "dscl": ("help", *USERS),
    "nvram": ("-p -xp", *KERNEL),
    "systemsetup": ("-gettimezone -getnetworktimeserver -getcomputername -liststartupdisks -help", *KERNEL),
    "pmset": ("-g", *POWER),
    "scutil": ("--get --dns --proxy --nwi -r", *NETWORK),
    "pkgutil": ("--pkgs --pkg-info --files --packages --check-signature", *SYSTEM_PACKAGES),
    "mas": ("list search info outdated version account", *SYSTEM_PACKAGES),
    "xcode-select": ("-p --print-path -v --version -h --help --install", *SETTINGS),
    "chage": ("-l --list", *USERS),
    "apt-mark": ("showmanual showauto showhold showinstall", *SYSTEM_PACKAGES),
    "dpkg-reconfigure": ("--help", *SYSTEM_PACKAGES),
    "ldconfig": ("-p -v -V --version", *KERNEL),
    "route": ("-n -v get", *NETWORK),
    "netplan": ("get status info", *NETWORK),
    "resolvectl": ("status query statistics", *NETWORK),
    "wg": ("show showconf genkey pubkey", *NETWORK),
    "tailscale": ("status ip ping version netcheck whois help", *OFFERS),
    "bore": ("--help --version", *OFFERS),
    "zrok": ("status version", *OFFERS),
    "nginx": ("-t -T -v -V -h", *SERVICES),
    "apachectl": ("configtest -t -v -V -S -M", *SERVICES),
    "supervisorctl": ("status tail avail pid version help", *SERVICES),
    "sv": ("status check", *SERVICES),
    "rcctl": ("ls get check", *SERVICES),
    "dinitctl": ("list status", *SERVICES),
    "rc-service": ("--list --exists", *SERVICES),
    "rc-update": ("show", *JOBS),
    "chkconfig": ("--list", *JOBS),
    "pg_ctl": ("status --version", *SERVICES),
    "pg_ctlcluster": ("--help", *SERVICES),
    "monit": ("status summary validate -V -t", *SERVICES),
    "pm2": ("ls list l status ps describe show logs log monit jlist prettylist start info -v --version", *JOBS),
    "certbot": ("certificates plugins --version", *SERVICES),
    "mkcert": ("-help -version -CAROOT", *KERNEL),
    "reg": ("query export /?", *SETTINGS),
    "net": ("view statistics /?", *KERNEL),
    "netsh": ("show /?", *NETWORK),
    "fsutil": ("fsinfo /?", *VOLUMES),
    "wevtutil": ("qe el gl /?", *KERNEL),
    "powercfg": ("/list /query -l -list /?", *POWER),
    "opkg": ("list list-installed info search", *SYSTEM_PACKAGES),
    "helmfile": ("diff template lint list status fetch deps build version", *CLOUD),
    "nodetool": ("status info ring tpstats compactionstats describecluster cfstats tablestats netstats", *DATABASE),
    "kafka-delete-records.sh": ("--help", *DATABASE),
    "git-annex": ("status info list whereis version", *UNDONE),
    "puppet": ("--version help parser", *CLOUD),
    "nssm": ("status get", *SERVICES),
    "abduco": ("-l", *TERMINAL),
    "byobu": ("ls", *TERMINAL),
    "crontab": ("-l", *JOBS),
    "vercel": ("env ls list inspect logs dev build whoami pull link --version --help", *CLOUD),
    "dpkg": ("-l -L -s -S -p --list --status --search --listfiles --print-architecture --version", *SYSTEM_PACKAGES),
    "rpm": ("-q -qa -ql -qi -qf -V --version --query", *SYSTEM_PACKAGES),
    **dict.fromkeys(
        ("nixos-rebuild", "darwin-rebuild", "home-manager"),
        (
            "build dry-build dry-activate check list-generations generations packages news option --help --version",
            *SYSTEM_PACKAGES,
        ),
    ),
    **dict.fromkeys(
        "aider amp auggie claude codex crush cursor-agent droid gemini kimi kiro-cli openhands opencode qwen".split(),
        ("--version -v -V --help -h help doctor models stats", *AGENTS),
    ),
    "installer": ("-pkginfo -dominfo", *SYSTEM_PACKAGES),
    "dtach": ("--help", *TERMINAL),
    "screen": ("-ls -list -v", *TERMINAL),
    "ssh": ("-V -Q", *REMOTE),
    "systemctl": (
        "status show cat is-active is-enabled is-failed list-units list-unit-files --version",
        *SERVICES,
    ),
    "tmux": (
        "ls list-sessions lsw list-windows lsp list-panes has has-session capturep capture-pane info -V",
        *TERMINAL,
    ),
    "zellij": ("ls list-sessions --version", *TERMINAL),
}
"""The harmless first arguments, and the finding for all others."""

_ABOUT_OUTPUT = frozenset("--user --system --no-pager -q --quiet".split())
_LOOKS_FIRST = frozenset({"diff", "help"})
"""Subcommands that look at what another one would do: ``helm diff upgrade``."""

_ONLY_LOOKS = frozenset("--help --dry-run --dryrun --dry-run=client --dry-run=server --dry-run=true".split())
"""Options with which programs describe what they would do."""

_LISTS = frozenset({"mount", "route", "dpkg", "fastboot", "pm2", "helmfile", "powercfg"})
"""Programs that only list something, or print their usage, without arguments."""


_AWS_READS = re.compile(
    r"|help|(s3|configure|sso|sts|logs|ecr) .*|[\w-]+ (describe|list|get|head|wait|batch-get|lookup|search|scan"
    r"|query).*"
)
_AWS_OPTIONS = frozenset("--profile --region --output --endpoint-url --query --ca-bundle --color".split())
_VERBS = frozenset(
    "decommission delete deploy deregister destroy drop erase evict expunge nuke obliterate publish purge revoke "
    "rollback teardown terminate undeploy unpublish wipe".split()
)
_COMMON_VERBS = frozenset({"rm", "remove", "uninstall"})
"""Verbs with which package managers take out what a project names, and wrappers start another program."""

_RESETS = ("infrastructure", "it resets or overwrites the state of a service or a computer")
_RESETTING = frozenset(
    "reset restore recover undochange reinitialize reinit reformat zap failover switchover stepdown demote cleanse "
    "racreset".split()
)
_PARTS_OF_RESETS = frozenset("reset restore reinit failover switchover zap".split())
"""The same as parts of a subcommand: ``factory-reset``, ``backup:restore``, ``reset-admin-password``."""
_POWERING = frozenset("off cycle reset soft diag".split())
_RESETTING_OPTIONS = frozenset("--restore --reset --factory-reset --reset-all --copy-back --move-back".split())
_RESETTING_PROGRAM = re.compile(r"[\w.-]+(restore|[-_](reset|wipe|nuke|uninstall|killall|purge))(\.sh)?")
_RESTORES_PACKAGES = frozenset(
    "dotnet nuget paket msbuild tput stty setterm reset echo expr printf ccache sccache phpunit".split()
)
"""Programs whose ``restore`` and ``reset`` lose nothing."""

_SHOWING = frozenset("show get read list ls export view print cat dump reveal".split())
_UNCOVERING = frozenset(
    "--password --passwords --show-password --show-passwords --secret --secrets --show-secret --show-secrets --reveal "
    "--unmask --decrypt --plaintext --show-token --show-tokens --show-protected --show-values --with-secrets".split()
)

_WRITING = re.compile(
    r"(?:^|\s)(?:-X\s?|--method[ =])(?!GET\b)\w|(?:^|\s)-(?:f|F)\s+(?!query=)(?!.*\bgraphql\b)", re.IGNORECASE
)
_AUTH = re.compile(r"_auth|_password|http-basic|token|credential", re.IGNORECASE)
_PLACES_OF_PACKAGES = re.compile(
    r"repositories|repos\b|registr|mirror|channels|index-url|source|npmRegistry", re.IGNORECASE
)
_CMDLET = re.compile(
    r"(remove|clear|stop|disable|uninstall|format|reset|restart|invoke|unregister|register|set)-(item(property)?|content"
    r"|service|process|computer|executionpolicy|expression|volume|disk|partition|scheduledtask|localuser|package|module"
    r"|mppreference|netfirewall\w+|acl|vm|command|wmimethod|cimmethod|recyclebin|eventlog|windowsfeature)"
)
"""Cmdlets of PowerShell that change the computer."""

_FLASHING = re.compile(r"\b(program|flash|erase|mass_erase|write_image|load_image)\b")
_OWN_CHAINS = frozenset("localhost hardhat development develop dashboard local ::test".split())

_PARTS_OF_VERBS = re.compile(r"[-:]")
_OF_OBJECT = re.compile(r"[a-z]+\.([a-z]+)")
"""A subcommand after the kind of its object: ``vm.destroy``."""

_NO_SUBCOMMAND = re.compile(r"[./ ]|^\W")
"""What subcommands do not have, but files and texts do."""

_PLACES_OF_VERBS = 3
_VERSION_CONTROL = frozenset("hg jj sl svn bzr fossil darcs pijul dvc git-lfs git-town gt gh glab repo p4".split())
"""Programs whose ``push`` sends commits to a place that the repository names, as that of git does."""

_TASK_RUNNERS = frozenset(
    "ant bundle composer gradlew grunt gulp hatch inv invoke lerna mage mix moon mvnw nox nx pdm pipenv poe poetry "
    "rush sbt task thor turbo waf".split()
)
"""Programs whose first words are names that the project chose."""

_EMPTYING = frozenset("reset drop purge wipe truncate clear flush".split())
_DESTROYING = ("--delete", "--purge", "--destroy", "--drop", "--wipe", "--erase", "--force-reset", "--accept-data-loss")
_UNASKED = re.compile(
    r"--(yolo|full-auto|dangerously-.*|dangerous-.*|(allow|trust)-all-tools|skip-permissions.*|bypass-(approvals|permissions).*"
    r"|approval-mode=yolo|permission-mode=bypass.*|no-confirm(ation)?s?|ask-for-approval=never)"
)
"""Options that let an agent, whatever its name, do what it likes without asking."""

_NO_VERBS = READERS | frozenset(
    "ack ag ant apropos awk bazel cargo cd chmod chown cmake code coverage cp ctest docker dotnet emacs fd fdfind find "
    "git go gradle help history info ln mkdir mv nano nvim open rm rmdir tar tee touch unzip vi vim zip "
    "jest just kubectl make man "
    "mocha mvn node oc npm npx pip pip3 pnpm podman pytest python python3 rake rg rsync ruby rustc sed select "
    "sort tldr tox tr uv vitest whatis xargs yarn".split()
)
"""Programs whose arguments may be any words; for all others, subcommands are meaningful."""


def by_name(call: Call) -> Iterator[Judgement]:
    """Yield findings about a program with these words among its arguments."""
    name, arguments = call.name, call.arguments
    if _ONLY_LOOKS & set(call.texts) or (call.operands and call.operands[0].text in _LOOKS_FIRST):
        return
    if name in _ALWAYS and call.texts not in (["--version"], ["--help"]):
        yield "ask", *_ALWAYS[name]
    if name in _UNLESS:
        harmless, rule, why = _UNLESS[name]
        first = next((word.text for word in arguments if word.text not in _ABOUT_OUTPUT), None)
        if first is None and name in _LISTS:
            pass
        elif first is None or first not in harmless.split():
            yield "ask", rule, why
    for needed, rule, why in WITH_WORDS.get(name, ()):
        if has_words(arguments, needed) and not (
            needed == "install" and rule == "packages" and installs_declared(call)
        ):
            yield "ask", rule, why
    for needed, rule, why in BEGINNING_WITH.get(name, ()):
        words = needed.split()
        if [word.text for word in call.operands[: len(words)]] == words:
            yield "ask", rule, why
    yield from _by_form(call)
    yield from _by_verb(call)
    yield from _by_administration(call)


def _by_form(call: Call) -> Iterator[Judgement]:
    """Yield findings about programs whose dangerous subcommands have a form in common."""
    name = call.name
    if name in ("npm", "pnpm") and _sets(call):
        yield "ask", *SETTINGS
    if _CMDLET.fullmatch(name):
        yield "ask", "system", "it changes the system, or deletes something"
    if "config" in call.texts[:2]:
        yield from _of_packages(call)
    if name in ("gh", "glab") and has_words(call.arguments[:1], "api") and _writes(" ".join(call.texts)):
        yield "ask", *CLOUD
    if name == "aws" and not _AWS_READS.fullmatch(_aws_action(call)):
        yield "ask", *CLOUD
    if any(_UNASKED.fullmatch(text) for text in call.texts):
        yield "ask", *AGENTS
    yield from _by_target(call)


def _by_target(call: Call) -> Iterator[Judgement]:
    """Yield findings about programs that do the same here and elsewhere, or to devices."""
    name = call.name
    if name == "openocd" and any(_FLASHING.search(word.text) for word in call.arguments):
        yield "ask", *FLASHES
    if name == "spark-submit" and any(text.startswith(("yarn", "k8s:", "spark:", "mesos:")) for text in call.texts):
        yield "ask", *REMOTE
    if name == "twilio" and any(word.text.endswith((":create", ":update")) for word in call.operands):
        yield "ask", *SENDS
    if name == "steamcmd" and any(text.startswith(("+run_app_build", "+workshop_build")) for text in call.texts):
        yield "ask", *PUBLISH
    if name in ("hardhat", "truffle", "brownie", "ape") and _reaches_chain(call):
        yield "ask", *PUBLISH


def _reaches_chain(call: Call) -> bool:
    """Whether a program for contracts works with a chain that others use."""
    texts = [part for text in call.texts for part in text.split("=", 1)]
    return any(before == "--network" and text not in _OWN_CHAINS for before, text in pairwise(texts))


def _by_verb(call: Call) -> Iterator[Judgement]:
    """Yield a finding about a program, known or not, with a subcommand such as ``destroy``."""
    name = call.name
    if name not in _NO_VERBS and not name.endswith((".py", ".js", ".ts", ".rb")):
        verbs = _VERBS if name in MANAGERS or wrapper_of(name, call.arguments) is not None else _VERBS | _COMMON_VERBS
        verb = next((verb for word in call.operands[:_PLACES_OF_VERBS] if (verb := _verb(word.text, verbs))), None)
        if verb is not None or call.has_long(*_DESTROYING):
            yield "ask", "infrastructure", f"it may {verb or 'delete'} what cannot be restored"
        yield from _by_common_words([word.text for word in call.operands[:_PLACES_OF_VERBS]], name)


def _by_common_words(words: list[str], name: str) -> Iterator[Judgement]:
    """Yield findings about the first words of a program that mean the same with all programs that have them."""
    if name in _TASK_RUNNERS:
        return
    if "upload" in words:
        yield "ask", *SENDS
    if words[:1] == ["login"] or words[:2] == ["auth", "login"]:
        yield "ask", *SECRETS
    if ("push" in words or "submit" in words) and name not in _VERSION_CONTROL:
        yield "ask", *PUBLISH
    if any(first in ("db", "database") and second in _EMPTYING for first, second in pairwise(words)):
        yield "ask", *DATABASE


def _by_administration(call: Call) -> Iterator[Judgement]:
    """Yield findings about verbs that throw away the state of a service, and about secrets that are printed."""
    name = call.name
    words = [word.text for word in call.operands]
    takes_any = name in _NO_VERBS | _TASK_RUNNERS | _VERSION_CONTROL | _RESTORES_PACKAGES
    by_word = any(map(_resets, words[:_PLACES_OF_VERBS])) or not _RESETTING_OPTIONS.isdisjoint(call.texts)
    by_word = by_word or any(first == "power" and second in _POWERING for first, second in pairwise(words))
    by_its_name = _RESETTING_PROGRAM.fullmatch(name) is not None and name not in WITH_WORDS
    if by_its_name or (by_word and not takes_any):
        yield "ask", *_RESETS
    shows = name not in _NO_VERBS and not _SHOWING.isdisjoint(words[:_PLACES_OF_VERBS])
    if shows and not _UNCOVERING.isdisjoint(text.partition("=")[0] for text in call.texts):
        yield "ask", *SECRETS


def _resets(word: str) -> bool:
    parts = () if _NO_SUBCOMMAND.search(word) else _PARTS_OF_VERBS.split(word)
    return word in _RESETTING or not _PARTS_OF_RESETS.isdisjoint(parts)


def _writes(text: str) -> bool:
    """Whether ``gh api`` with these arguments changes something."""
    return _WRITING.search(text) is not None and re.search(r"(-X ?|--method[ =])GET\b", text) is None


def _of_packages(call: Call) -> Iterator[Judgement]:
    """Judge ``config`` of package managers: where packages come from, and keys that it prints."""
    if "get" in call.texts[:2] or len(call.operands) == 2:  # noqa: PLR2004 - ``config`` and a name
        if any(_AUTH.search(word.text) for word in call.operands):
            yield "ask", *SECRETS
    elif any(_PLACES_OF_PACKAGES.match(word.text) for word in call.operands[1:]):
        yield "ask", *SOURCES


def _verb(text: str, verbs: frozenset[str]) -> str | None:
    """Return the verb in a subcommand that destroys something: ``sites:delete``, ``delete-batch``; None without one."""
    of_object = _OF_OBJECT.fullmatch(text)
    if of_object is not None and of_object[1] in _VERBS:
        return of_object[1]
    if _NO_SUBCOMMAND.search(text):
        return None
    if text in verbs:
        return text
    return next((part for part in _PARTS_OF_VERBS.split(text) if part in _VERBS), None)


def _sets(call: Call) -> bool:
    """Whether ``npm set``, or ``npm c set``, changes a setting."""
    first, second = [*(word.text for word in call.operands[:2]), "", ""][:2]
    return first == "set" or (first in ("c", "conf", "config") and second in ("set", "delete", "edit", "rm"))


def _aws_action(call: Call) -> str:
    """Return service and operation, skipping global options before them."""
    pairs = zip(("", *call.texts), call.texts, strict=False)
    return " ".join([text for before, text in pairs if not text.startswith("-") and before not in _AWS_OPTIONS][:2])

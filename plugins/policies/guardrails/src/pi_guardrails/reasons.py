"""Rules and reasons that several tables of programs share."""

from __future__ import annotations

__all__ = [
    "AGENTS",
    "BRINGS",
    "CLOUD",
    "CODE",
    "DATABASE",
    "ENDS",
    "FLASHES",
    "IMAGES",
    "JOBS",
    "KERNEL",
    "KEYS",
    "LATER",
    "NETWORK",
    "OFFERS",
    "PACKAGES",
    "POWER",
    "PUBLISH",
    "RECORDS",
    "REMOTE",
    "RIGHTS",
    "RULES",
    "SCANS",
    "SECRETS",
    "SENDS",
    "SERVERS",
    "SERVICES",
    "SETTINGS",
    "SOURCES",
    "SYSTEM_PACKAGES",
    "TERMINAL",
    "TRASH",
    "UNDONE",
    "USERS",
    "VOLUMES",
]

AGENTS = ("guard-off", "it starts another agent, whose commands are not guarded")
REMOTE = ("remote-code", "it reaches another computer, where commands are not guarded")
POWER = ("system", "it stops the computer")
RULES = ("system", "it changes the firewall")
USERS = ("system", "it changes who may use the computer")
KERNEL = ("system", "it changes the running system")
VOLUMES = ("disk", "it changes volumes or partitions")
FLASHES = ("disk", "it overwrites or erases the memory of a device")
LATER = ("schedule", "it runs commands later, unattended")
TERMINAL = ("dynamic-command", "it runs commands in another terminal, where they are not guarded")
JOBS = ("schedule", "it changes what runs later, unattended")
SENDS = ("exfiltration", "it sends files or messages to others")
SERVERS = ("infrastructure", "it changes a server that others may use")
SERVICES = ("system", "it changes system services")
TRASH = ("delete", "it moves files to the trash")
PUBLISH = ("publish", "it publishes, which often cannot be undone")
CLOUD = ("infrastructure", "it deletes or changes what others may use")
IMAGES = ("infrastructure", "it deletes images, volumes or containers")
SYSTEM_PACKAGES = ("system", "it changes installed programs")
NETWORK = ("system", "it changes the computer's network")
PACKAGES = ("system", "it uninstalls programs")
DATABASE = ("database", "it empties a database, or drops it")
SETTINGS = ("environment", "it changes settings that affect later commands")
UNDONE = ("git-discard", "it discards uncommitted work, or commits")
KEYS = ("delete", "it deletes or changes keys")
SECRETS = ("secrets", "it prints or stores keys, tokens or passwords")
BRINGS = ("packages", "it fetches code that has not been reviewed")
SOURCES = ("packages", "it changes where packages come from")
RIGHTS = ("privileges", "it runs with another user's rights")
ENDS = ("processes", "it ends processes by name, perhaps others than intended")
SCANS = ("system", "it scans other computers for open ports, or tries passwords there")
RECORDS = ("secrets", "it records what other programs or people do")
OFFERS = ("exfiltration", "it lets others reach this computer, or sends files to them")
CODE = ("inline-code", "it runs code that is not analysed")

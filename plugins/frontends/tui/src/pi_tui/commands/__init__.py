"""Slash commands of the front end itself, a module for each group; plugins, templates and skills bring theirs."""

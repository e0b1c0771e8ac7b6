"""The front end's own slash commands, one module for each group; plugins, templates and skills add others."""

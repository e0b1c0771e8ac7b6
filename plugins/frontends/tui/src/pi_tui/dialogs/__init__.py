"""Questions in place of the editor. Each dialog is a module."""

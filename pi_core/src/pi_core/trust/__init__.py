"""Whether a project's own files count: what was decided, and who is asked where nothing was."""

"""What may follow what is typed: commands and their arguments, files, paths, and what plugins offer."""

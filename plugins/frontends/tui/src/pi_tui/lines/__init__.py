"""Layout of conversation blocks: each becomes styled lines of a given width."""

"""How blocks of a conversation look: styled lines of a given width."""

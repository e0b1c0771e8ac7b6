"""Models of the lists that replace the editor: their items, which of them are displayed, and the effects of keys."""

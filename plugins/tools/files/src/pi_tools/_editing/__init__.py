"""How ``edit`` finds texts, puts others in their place, and shows what became of it."""

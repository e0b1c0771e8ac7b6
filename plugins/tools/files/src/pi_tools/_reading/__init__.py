"""How ``read`` shows what it finds: lines of texts of any size, images, and names for the rest."""

"""Two runs over the same items, item by item."""

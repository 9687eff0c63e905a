"""`anvil label`."""

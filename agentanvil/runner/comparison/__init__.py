"""`anvil compare`."""

"""`anvil ablate`."""

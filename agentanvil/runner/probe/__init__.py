"""`anvil probe`."""

"""`anvil calibrate`."""

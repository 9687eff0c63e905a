"""The `anvil` command: one file per verb."""

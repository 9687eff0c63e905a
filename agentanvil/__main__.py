"""`python -m agentanvil` is `anvil`."""

from agentanvil.cli.main import main

if __name__ == "__main__":
    main()

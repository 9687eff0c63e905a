"""Speed and memory of whole `anvil` processes beside a raw client, on a loopback provider. Nothing is asserted."""

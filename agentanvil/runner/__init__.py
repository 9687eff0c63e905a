"""One file per use case; `wiring.py` is the only place where implementations meet."""

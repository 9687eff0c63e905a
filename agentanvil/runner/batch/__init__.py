"""A run over a provider's batch API: submitted, watched, collected into the same journal as a live run, cancelled."""

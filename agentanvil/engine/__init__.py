"""Runs a worker over tasks, and keeps the journal that makes a run resumable."""

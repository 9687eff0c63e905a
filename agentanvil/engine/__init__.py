"""Runs a worker over tasks, and keeps the journal that makes a run resumable."""

from agentanvil.engine.base import Worker
from agentanvil.engine.journal import JournalIndex, JournalReader, read_index
from agentanvil.engine.journal_writer import JournalWriter
from agentanvil.engine.local import Stop, run_local

__all__ = ["JournalIndex", "JournalReader", "JournalWriter", "Stop", "Worker", "read_index", "run_local"]

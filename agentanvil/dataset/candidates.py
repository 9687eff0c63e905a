"""Whose responses a file holds: the models that its rows name, counted, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping

from agentanvil.dataset.records import Row

MAX_MODELS = 100
"""How many distinct model names the info lists: a mis-mapped field must not fill the memory."""
MAX_CANDIDATES = 1000
"""The same for distinct candidates: of two responses each pair of models counts."""

Models = tuple[str | None, ...]
"""The model of a row's response, or those of its two; None where it is not named."""


class Candidates:
    """Counts rows by the models that wrote their responses."""

    def __init__(self) -> None:
        self._rows: dict[Models, int] = {}
        self.beyond = 0

    def add(self, row: Row) -> None:
        """Count one row; one that names no model does not count."""
        models: Models = (row.model,) if row.rival is None else (row.model, row.rival.model)
        if models in self._rows:
            self._rows[models] += 1
        elif any(model is not None for model in models):
            if len(self._rows) < MAX_CANDIDATES:
                self._rows[models] = 1
            else:
                self.beyond += 1

    @property
    def rows(self) -> Mapping[Models, int]:
        """Rows by models, in the order of their first; `beyond` are those of models that found no more room."""
        return dict(self._rows)

    @property
    def models(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(sorted({model for models in self._rows for model in models if model is not None}))[:MAX_MODELS]

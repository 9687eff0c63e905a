"""A rubric with and without each of its clauses, on the same items."""

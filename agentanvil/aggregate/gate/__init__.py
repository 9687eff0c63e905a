"""Whether a run passes: by its items, or by the interval of a figure."""

"""Several judges: what they come to together, and how far they agree."""

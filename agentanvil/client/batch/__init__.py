"""Batch APIs: many requests handed over at once, at half the price, and answered within a day in any order."""

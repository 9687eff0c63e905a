"""Means and pass rates corrected for the judge's error by a labelled subset."""

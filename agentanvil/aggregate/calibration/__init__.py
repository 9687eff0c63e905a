"""A judge against human labels: what each dimension comes to, groups, raters, the worst disagreements."""

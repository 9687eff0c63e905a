"""What moved a judge that should not have."""

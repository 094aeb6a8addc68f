"""A report for people and for machines."""

"""Grades exercises of submissions: outcomes → points, what to run again, and which known mistake explains a failure."""

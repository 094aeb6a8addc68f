"""Reports in the formats of other programs. An exporter reads reports and nothing else.

gradebook_csv  a row for each author
"""

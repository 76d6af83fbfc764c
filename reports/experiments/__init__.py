"""Saved training runs beside what the paper prints of its own.

intervals    confidence intervals
groups       runs that differ in their seed alone
settings     what a run's setting is in words, and where it differs from the paper's
tables       Tables 1 and 2
gathered     the tables and curves of a page
plain        the tables as plain text
"""

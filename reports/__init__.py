"""The outer ring: the command line, and what it writes for people and machines to read.

cli          commands and exit statuses
selection    from selectors to claims
running      settle the chosen claims, keep what is settled when interrupted
record       the record of a run, as data
environment  what a run depends on beside its record: times, versions, machine, commit
output       files of a run, written atomically
html, graph, mathml, junit    pages, rebuilt from the record alone
text         what the terminal shows
machines     the machine that `run` is given
progress     how far a run is, on stderr
"""

"""Evidence: facts about a source, from which a task is recognised.

evidence    a table: its columns, their possible roles, duplicates, sequences
series      whether a table holds time series
"""

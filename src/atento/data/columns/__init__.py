"""Columns of a table: what they hold, what role they may have, and what they give away.

column    statistics of a column; histograms of lengths and labels
roles     which column is the text, the label, two texts, words and tags
leaks     label leakage, near-duplicates
"""

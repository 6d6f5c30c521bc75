"""Sequences of numbers as examples. labelled: from any table; long: from a table with a row for each time step."""

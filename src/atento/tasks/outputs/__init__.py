"""Outputs: the half of a task that learns targets and gives answers.

`OneLabel`, `SeveralLabels`, `Number`, `WrittenText`, `Tags`; `output.py` says what they have in common.
"""

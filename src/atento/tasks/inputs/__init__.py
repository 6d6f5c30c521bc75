"""Inputs: the half of a task that reads sources. Each class is learned from the training part, saved and loaded.

`Text`, `TwoTexts`, `WordList`, `Numbers`, `Image`, `ImageQuestion`; `input.py` says what they have in common.
"""

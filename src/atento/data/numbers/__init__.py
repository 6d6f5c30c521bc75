"""Numbers as people and programs write them.

cells       one cell: sign, digits, unit, or a mark of a missing number
dialects    which signs a column uses for decimals and thousands, by all its cells
reading     the cells of a column to numbers, with what was decided
"""

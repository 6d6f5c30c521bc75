"""Tables: every file format as rows and columns."""

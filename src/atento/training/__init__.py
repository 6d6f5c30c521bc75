"""One readable loop, and what makes it survive anything."""

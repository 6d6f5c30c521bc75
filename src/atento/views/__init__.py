"""What a person looks at: the report of a comparison, attention in a page, a picture or a terminal."""

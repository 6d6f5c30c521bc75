"""From files to examples: reading, evidence, splitting, vocabularies, batches, generated sets."""

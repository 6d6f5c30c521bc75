"""From a recipe to the three parts of a data set."""

"""What a comparison is made of: its models and budgets, worker processes, simple baselines, and the verdict."""

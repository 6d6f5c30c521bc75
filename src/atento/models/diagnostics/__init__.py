"""Recording activations and gradients of a model."""

"""Views of a model as such: its graph, its positions, its learning rate, and its gradients over training."""

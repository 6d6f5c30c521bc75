"""What a trained model can show: its answers and what they rest on, attention maps, the model itself, and series."""

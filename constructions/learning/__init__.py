"""What gradient descent finds in universal transformers: data, models, training, tables."""

"""Builds the course's text stand-in: corpus, tokenizer, training, evaluation, model card."""

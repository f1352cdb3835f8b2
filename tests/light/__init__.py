"""Process doubles for tests of a server's life: never a model, and never shown to a learner."""

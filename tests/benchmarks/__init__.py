"""Speed figures: each a ratio or a difference against something run beside it, or a latency with a
bound. Run by `make bench`, never by a test.
"""

"""Evidence of a run on an NPU: one small archive that its owner can send, and a maintainer merge.

`packing` makes it from a run's folder, `archive` writes and reads it, `judging` says which claims
of course/claims.yml the run shows, `merging` checks an archive and changes the claims' statuses
through `register`. Nothing here runs a lab, and nothing proves who sent an archive: that is for
people.
"""

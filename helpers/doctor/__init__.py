"""What this machine is, which findings follow from it, and what can run here: the doctor.

Readers of the tools' output stand one a module; none of them starts anything.
"""

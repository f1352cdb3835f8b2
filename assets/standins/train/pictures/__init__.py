"""How the picture stand-in is made; see __main__.py."""

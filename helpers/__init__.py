"""What the course's notebooks import: start, watch, ask and stop a vLLM server.

Not a serving framework: it teaches a deployment, and every command line and environment that it
uses can be printed. Importing it loads nothing; import the module that the lesson names (`from
helpers import server, chat`).
"""

__version__ = "0.1.0"

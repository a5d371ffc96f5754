"""Muniment: media folders into memory that can prove itself.

The code lies in the folders ``pipeline``, ``adapters`` and ``store`` beside ``src``; the links here
give it one import name.
"""

__version__ = "0.1.0"

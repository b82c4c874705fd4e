"""Tests of the runtime under an ordinary CPython: `python3 -m unittest discover` in the folder above."""

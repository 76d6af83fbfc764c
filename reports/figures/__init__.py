"""Figures of a run as SVG: files of their own, and drawn inline in its page."""

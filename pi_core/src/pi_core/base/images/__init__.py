"""Images that every model accepts: what each API takes, what an image is by its bytes, and how one is made to fit.

Pillow is imported by the first image that has to be decoded.
"""

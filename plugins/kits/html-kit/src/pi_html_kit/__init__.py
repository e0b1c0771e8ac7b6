"""What a session holds as safe HTML for browsers: one renderer for the web page, the exported page and notebooks.

``markdown`` renders texts, ``tools`` calls and their results, ``images`` pictures, ``terminal`` coloured output;
``html_text`` is the only place where text becomes markup. ``assets`` has the style and the script that belong to it.
"""

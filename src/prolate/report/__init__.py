"""A release as a page of HTML: one file that loads nothing, runs nothing and prints well.

`words` says things in sentences, `rows` chooses and writes the numbers of the table, and
`drawing` turns numbers into coordinates. The templates hold everything that is HTML.
"""

from prolate.report.page import notebook, page

__all__ = ["notebook", "page"]

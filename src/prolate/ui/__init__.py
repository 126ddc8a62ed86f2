"""A local page to plan, pay for and read a release: `prolate ui data.parquet`.

It is served by Starlette and uvicorn, with one template, one style sheet and one script of
our own. NiceGUI, Shiny, Panel and Streamlit were looked at and left: each brings dozens of
packages, keeps the page alive over a websocket that a reload cuts, or allows scripts that a
strict content security policy would not; and what they draw cannot be made clean for a screen
reader from outside. These two bring four small packages of pure Python, for every version,
and a request is a plain one that can be tested without a browser.

`schema` is all that is known of the file; `plan` what is asked of it; `expected` what error to
expect; `desk` releases, once; `words` says what is spent and left; `guard` lets in who has the
token; `app` ties them to addresses; `serve` opens the page and ends it.
"""

"""The addresses of the page: what is read, what is asked, what is fetched.

Only `serve` imports this module, and only once the page is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from prolate.errors import InputError, ProlateError
from prolate.ledger import Ledger
from prolate.release import installed_version
from prolate.release.words import printable
from prolate.ui import words
from prolate.ui.desk import Desk, Run
from prolate.ui.expected import expect
from prolate.ui.plan import STATISTICS, Plan
from prolate.ui.results import Made, render, to_text
from prolate.ui.schema import Schema

__all__ = ["make_app"]

_LARGEST = 1 << 20  # bytes of a request
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


def make_app(schema: Schema, ledger: Ledger | None, desk: Desk) -> Starlette:
    """Return the application behind the guard.

    Parameters
    ----------
    schema : Schema
    ledger : Ledger or None
    desk : Desk
    """
    face = _Face(schema, ledger, desk)
    return Starlette(
        routes=[
            Route("/", face.page),
            Route("/page.css", _style),
            Route("/page.js", _script),
            Route("/state", face.state),
            Route("/expected", _asked(face.expected), methods=["POST"]),
            Route("/review", _asked(face.review), methods=["POST"]),
            Route("/release", _asked(face.release), methods=["POST"]),
            Route("/runs/{ticket}/report", face.report),
            Route("/runs/{ticket}/{kind}", face.download),
        ],
        exception_handlers={ProlateError: _failed, Exception: _failed},
    )


class _Face:
    """What the addresses answer."""

    def __init__(self, schema: Schema, ledger: Ledger | None, desk: Desk) -> None:
        self._schema = schema
        self._ledger = ledger
        self._desk = desk

    def page(self, _request: Request) -> Response:
        return HTMLResponse(_page(self._schema, self._ledger))

    def state(self, _request: Request) -> Response:
        runs = [run.public() for run in self._desk.runs()]
        try:
            account = words.ledger_in_words(self._ledger)
        except ProlateError as error:  # releases are shown all the same
            account = {"error": printable(str(error))}
        return JSONResponse({"ledger": account, "runs": runs})

    def expected(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        plan = Plan.read(fields, self._schema)
        known = self._schema.rows if words.tells_rows(self._ledger, plan) else None
        found: dict[str, Any] = {
            "mu": f"{plan.budget.mu:.4g}",
            "room": words.room(self._ledger, plan),
            "rows": known,
        }
        try:
            return found | expect(plan, fields, known, self._schema.flags)
        except ProlateError as error:
            return found | {"missing": printable(str(error))}

    def review(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        plan = Plan.read(fields, self._schema)
        said = words.spending(plan, self._ledger, self._desk.times(plan))
        return {"ticket": self._desk.plan(plan), "words": said}

    def release(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return self._desk.start(fields.get("ticket")).public()

    def report(self, request: Request) -> Response:
        headers = {"content-security-policy": _REPORT_POLICY}
        return HTMLResponse(self._made(request)[1].to_html(), headers=headers)

    def download(self, request: Request) -> Response:
        run, made = self._made(request)
        kind = request.path_params["kind"]
        if kind not in _MEDIA:
            raise InputError(f"A release is downloaded as {', '.join(_MEDIA)}.")
        place = None if self._ledger is None else str(self._ledger.path)
        if kind in ("py", "sh"):
            text = run.plan.python(place) if kind == "py" else run.plan.command(place)
        elif kind == "json":
            text = made.to_json()
        else:
            text = made.to_html() if kind == "html" else made.to_csv()
        # Who asks for the head alone has no numbers.
        run.fetched |= request.method == "GET" and kind not in ("py", "sh")
        name = f"{run.plan.statistic}-{run.number}.{kind}"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type=_MEDIA[kind], headers=headers)

    def _made(self, request: Request) -> tuple[Run, Made]:
        run = self._desk.find(request.path_params["ticket"])
        if run is None or run.release is None:
            why = "" if run is None else run.error
            raise InputError(why or "There is no such release on this page, or it is not done yet.")
        return run, run.release


def _style(_request: Request) -> Response:
    # The report's style, and what the page adds to it.
    text = to_text("prolate.report", "templates/page.css") + to_text("prolate.ui", "files/page.css")
    return Response(text, media_type="text/css")


def _script(_request: Request) -> Response:
    return Response(to_text("prolate.ui", "files/page.js"), media_type="text/javascript")


def _asked(answer: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
    """Return the endpoint of a question in JSON, answered in a thread of its own."""

    async def endpoint(request: Request) -> Response:
        try:
            found = await run_in_threadpool(answer, await _fields(request))
        except ProlateError as error:
            found = {"error": printable(str(error))}  # a refusal is an answer, too
        return JSONResponse(found)

    return endpoint


async def _failed(_request: Request, error: Exception) -> Response:
    if isinstance(error, ProlateError):
        return JSONResponse({"error": printable(str(error))}, 400)
    # The message of an unforeseen error may quote values: only its kind is told.
    kind = type(error).__name__
    return JSONResponse({"error": f"Stopped by an internal error ({kind})."}, 500)


_MEDIA = {
    "json": "application/json",
    "csv": "text/csv",
    "html": "text/html",
    "py": "text/x-python",
    "sh": "application/x-sh",
}


async def _fields(request: Request) -> Mapping[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise InputError("This is more than the page ever asks; choose fewer columns.")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise InputError("The request is not a JSON object.")
    return fields


def _page(schema: Schema, ledger: Ledger | None) -> str:
    return render(
        "page.html",
        schema=schema,
        place=printable(schema.path),
        printable=printable,
        ledger=None if ledger is None else printable(str(ledger.path)),
        finds=ledger is None or ledger.keys_delta > 0.0,
        statistics=STATISTICS,
        version=installed_version(),
    )

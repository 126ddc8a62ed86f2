#!/usr/bin/env python3
"""Run everything a maintainer runs: formatting, lint, types, tests.

``python3 check.py`` is all the set-up it needs: it makes a virtual environment
of its own in .venv-check and stops at the first failure.  ``python3 check.py
--long`` runs the tests that take minutes, too; looks up known vulnerabilities
of what is installed; and runs the tests of units and of the command with the oldest
libraries that pyproject.toml allows, on the oldest Python that is here.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv-check"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST, NEWEST = (3, 11), (3, 13)

OLD = ROOT / ".venv-oldest"
AUDIT = ROOT / ".venv-audit"
BOUND_EXTRAS = ("plot", "postgres", "sklearn", "ui")
BOUND_TOOLS = ("duckdb", "hypothesis", "mpmath", "pandas", "polars", "pytest", "pytest-xdist")


def run(*command: object, **variables: str) -> None:
    """Run a command in the repository, with more environment variables; stop if it fails."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    code = subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode
    if code:
        sys.exit(f"check.py: stopped, because this failed (exit code {code}): {' '.join(words)}")


def use_a_supported_python() -> None:
    """Go on under another interpreter if this one is not in the range."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        # A name on the path may be a stand-in for a version that is not there.
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            sys.stdout.flush()
            os.execv(found, [found, *sys.argv])
    sys.exit(
        f"check.py: this is Python {sys.version_info[0]}.{sys.version_info[1]}; it needs "
        "3.11, 3.12 or 3.13. Install one of them, then run it again."
    )


def install(package: str, why: str) -> bool:
    """Install a Debian package, and return whether that worked; `why` is printed."""
    if not shutil.which("apt-get") or os.name == "nt" or os.getuid() != 0:
        return False
    print(f"check.py: {why}; installing the Debian package {package}", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-q"], ["install", "-qy", "--no-install-recommends", package]):
        print("+ apt-get", *words, flush=True)
        if subprocess.run(["apt-get", *words], env=quiet, check=False).returncode:
            return False
    return True


def needs(program: str, package: str) -> None:
    """Install the Debian package of a program that tests use, or say that they will skip.

    The program is a name, looked up on the PATH, or a pattern of absolute paths.
    """
    if shutil.which(program) or (program[0] == "/" and any(Path("/").glob(program[1:]))):
        return
    if not install(package, f"there is no {program} here"):
        print(
            f"check.py: there is no {program} here, and installing the Debian package {package} "
            "takes root and apt-get; the tests that need it will skip",
            flush=True,
        )


def make_environment() -> None:
    """Make .venv-check, or bring it up to date with pyproject.toml."""
    wanted = sys.version + str(ROOT) + (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    stamp, mark = VENV / "check-stamp", hashlib.sha256(wanted.encode()).hexdigest()
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == mark:
        return
    if not importlib.util.find_spec("ensurepip") or not importlib.util.find_spec("venv"):
        # Debian and Ubuntu keep these apart from Python itself.
        package = f"python3.{sys.version_info[1]}-venv"
        if not install(package, "this Python lacks the module venv"):
            sys.exit(f"check.py: this Python lacks the module venv; install {package} first.")
    run(sys.executable, "-m", "venv", "--clear", VENV)
    run(PYTHON, "-m", "pip", "install", "--quiet", "--editable", ".[dev]")
    stamp.write_text(mark)


def inside(venv: Path, program: str = "python") -> Path:
    """Return a program of a virtual environment."""
    return venv / ("Scripts" if os.name == "nt" else "bin") / program


def lower_bounds() -> list[str]:
    """Return the oldest libraries that pyproject.toml allows: those of users, and for unit tests.

    The first bound of a library holds: the one for users.
    """
    import tomllib  # not in a Python that is too old, which must come as far as saying so

    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = about["optional-dependencies"]
    needed = [*about["dependencies"], *(need for name in BOUND_EXTRAS for need in extras[name])]
    pins: dict[str, str] = {}
    for need in [*needed, *extras["dev"]]:
        match = re.fullmatch(r"([\w.-]+)(\[[\w,]+\])?>=([\w.]+)(,<[\w.]+)?", need)
        if match is None:
            if need in needed:
                sys.exit(f"check.py: {need!r} in pyproject.toml has no lower bound.")
            continue
        name, extra, version, _ = match.groups()
        if need in needed or name in BOUND_TOOLS:
            pins.setdefault(name, f"{name}{extra or ''}=={version}")
    return list(pins.values())


def check_lower_bounds() -> None:
    """Run tests with the oldest libraries, on the oldest Python that is here."""
    oldest = shutil.which("python{}.{}".format(*OLDEST)) or sys.executable
    pins, stamp = lower_bounds(), OLD / "check-stamp"
    mark = " ".join([oldest, *pins])
    if not stamp.exists() or stamp.read_text() != mark:
        run(oldest, "-m", "venv", "--clear", OLD)
        run(inside(OLD), "-m", "pip", "install", "--quiet", *pins)
        run(inside(OLD), "-m", "pip", "install", "--quiet", "--no-deps", "--editable", ".")
        stamp.write_text(mark)
    # Old libraries warn about newer ones that they meet; compiled code is no other version's.
    warnings = ("-o", "filterwarnings=default", "-p", "no:cacheprovider")
    cache = {"NUMBA_CACHE_DIR": str(OLD / "numba")}
    tests = ("tests/unit", "tests/cli")
    run(inside(OLD), "-m", "pytest", "-q", "-n", "2", *warnings, *tests, **cache)


def check_vulnerabilities() -> None:
    """Stop if a library that is installed has a known vulnerability; skip without a database."""
    if not inside(AUDIT, "pip-audit").exists():
        run(sys.executable, "-m", "venv", AUDIT)
        run(inside(AUDIT), "-m", "pip", "install", "--quiet", "pip-audit")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.check_output([PYTHON, "-c", where], text=True).strip()
    look = ("--path", packages, "--skip-editable", "--progress-spinner", "off", "--format", "json")
    words = [str(word) for word in (inside(AUDIT), "-m", "pip_audit", *look)]
    print("+", *words, flush=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        every = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        every = []
    found = [package for package in every if "skip_reason" not in package]
    if not found:
        print("check.py: pip-audit does not reach its database from here; skipped", flush=True)
        return
    bad = [
        f"{package['name']} {package['version']}: {', '.join(fault['id'] for fault in faults)}"
        for package in found
        if (faults := package.get("vulns"))
    ]
    if bad:
        sys.exit("check.py: known vulnerabilities: " + "; ".join(bad))
    print(f"check.py: no known vulnerability in {len(found)} of {len(every)} packages", flush=True)


def main() -> None:
    """Check the arguments, then everything."""
    unknown = set(sys.argv[1:]) - {"--long"}
    if unknown:
        sys.exit(f"check.py: unknown argument {min(unknown)}; the only one is --long.")
    use_a_supported_python()
    make_environment()
    needs("java", "openjdk-17-jre-headless")  # for Spark
    needs("/usr/lib/postgresql/*/bin/initdb", "postgresql")
    needs("chromedriver", "chromium-driver")  # brings Chromium along
    run(PYTHON, "-m", "ruff", "format", "--check")
    run(PYTHON, "-m", "ruff", "check")
    run(PYTHON, "-m", "mypy", "--strict", "src")
    run(
        PYTHON, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "--durations", "30", *sys.argv[1:]
    )
    run(PYTHON, "benchmarks/speed.py", "--short", "--runs", "3")  # fails on gross regressions
    if "--long" in sys.argv:
        check_vulnerabilities()
        check_lower_bounds()


if __name__ == "__main__":
    main()

"""Which machine this is, so that a ledger file serves one only.

Two processes exclude each other through locks that the kernel of one machine
keeps; on a network drive, two machines may each believe to be alone.  So a file
remembers its machine, by two marks:

- the *boot*, a random number that a Linux kernel draws when it starts.  All
  containers of a machine have the same one, whatever their names; two machines
  never have.
- the *machine*, which stays when it is restarted: ``/etc/machine-id``, or the
  address of its network card where there is no such file.  Most containers have
  none, and copies of a virtual machine may share one.

The same boot is the same machine.  Another boot of the same machine is a
restart, unless that boot was seen before: no boot comes back, so then two
machines with one name take turns.  All else is another machine.

Marks are stored as digests: systemd asks to keep a machine's id from others.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Host", "meet", "this_host"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MACHINE = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_MULTICAST = 1 << 40  # set in an address that `uuid` made up


@dataclass(frozen=True)
class Host:
    """A machine: digests of its marks, empty where it has none, and what people call it."""

    machine: str
    boot: str
    name: str


def this_host() -> Host:
    """Return the machine that this process runs on."""
    boot, machine = _read(_BOOT), next(filter(None, map(_read, _MACHINE)), "")
    if not machine and sys.platform != "linux":
        node = uuid.getnode()
        machine = "" if node & _MULTICAST else f"{node:012x}"
    name = platform.node()
    if not (machine or boot):
        machine = name
    return Host(_digest(machine), _digest(boot), name)


def meet(seen: Sequence[Host], here: Host) -> Literal["same", "restarted", "other"]:
    """Return what `here` is to a ledger that was used on the machines `seen`, the last one last.

    Examples
    --------
    >>> ours = Host("machine", "monday", "ada")
    >>> meet([ours], Host("machine", "tuesday", "ada"))
    'restarted'
    >>> meet([ours], Host("another", "tuesday", "eve"))
    'other'
    """
    last = seen[-1]
    if here.boot == last.boot and (here.boot or here.machine == last.machine):
        return "same"
    if here.boot and here.boot in {host.boot for host in seen}:
        return "other"
    return "restarted" if here.machine and here.machine == last.machine else "other"


def _read(path: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        content = path.read_text().strip()
        return "" if content == "uninitialized" else content
    return ""


def _digest(mark: str) -> str:
    return mark and hashlib.sha256(f"prolate ledger {mark}".encode()).hexdigest()[:32]

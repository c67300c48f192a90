"""The configuration that runc gets for a container, close to what Fargate gives it.

Not reproduced: the limits of memory and processor, the seccomp profile, and the network, which is
this machine's so that the local cloud is found on loopback.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

NAMESPACES: Final = ("pid", "ipc", "uts", "mount")
MASKED: Final = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi", "/sys/firmware")
READ_ONLY: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
SAFE: Final = ("nosuid", "noexec", "nodev")
DEVICES: Final = ("nosuid", "strictatime", "mode=755", "size=65536k")
TERMINALS: Final = ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5")


def runtime_spec(
    *,
    root: Path,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    capabilities: Collection[str],
    read_only: bool,
    volumes: Mapping[str, Path],
) -> dict[str, Any]:
    """Return the content of `config.json`; the process starts as root, as on Fargate."""
    granted = sorted(f"CAP_{name}" for name in capabilities)
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": list(arguments),
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": folder,
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), granted),
            "noNewPrivileges": False,
        },
        "root": {"path": str(root), "readonly": read_only},
        "hostname": "worker",
        "mounts": [*_system_mounts(), *(_bound(path, at) for path, at in volumes.items())],
        "linux": {
            "namespaces": [{"type": kind} for kind in NAMESPACES],
            "maskedPaths": list(MASKED),
            "readonlyPaths": list(READ_ONLY),
        },
    }


def _system_mounts() -> list[dict[str, Any]]:
    return [
        _mount("/proc", "proc", "proc"),
        _mount("/dev", "tmpfs", "tmpfs", *DEVICES),
        _mount("/dev/pts", "devpts", "devpts", *TERMINALS),
        _mount("/dev/shm", "tmpfs", "shm", *SAFE, "mode=1777", "size=65536k"),
        _mount("/sys", "sysfs", "sysfs", *SAFE, "ro"),
    ]


def _bound(path: str, volume: Path) -> dict[str, Any]:
    return _mount(path, "bind", str(volume), "rbind", "rw")


def _mount(destination: str, kind: str, source: str, *options: str) -> dict[str, Any]:
    return {"destination": destination, "type": kind, "source": source, "options": list(options)}

"""`python -m benchmarks [PART…]`: the table of `benchmarks/README.md`, measured now on this machine.

The provider and the client are processes of their own, on different cores where the system allows to choose.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import traces

ROOT = Path(__file__).resolve().parent.parent
RUBRIC = ROOT / "rubrics" / "calibrated.yaml"
TEXT = "the of and water light system price answer because river model contract evidence figure claim result"
WORDS = TEXT.split()
CLIENT_CORE, PROVIDER_CORE = 0, 1


@dataclass(frozen=True)
class Ran:
    """One finished process: wall seconds, CPU seconds, peak resident memory in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def on_core(core: int) -> Callable[[], None] | None:
    if not hasattr(os, "sched_setaffinity") or (os.cpu_count() or 1) < 2:
        return None
    return lambda: os.sched_setaffinity(0, {core})


@contextmanager
def provider(latency_s: float = 0.0, per_second: int = 0) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.provider", "0", str(latency_s), str(per_second)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=on_core(PROVIDER_CORE),  # noqa: PLW1509 - this process has one thread
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


def stats(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/stats") as answer:
        return dict(json.load(answer))


def ran(arguments: list[str], env: Mapping[str, str]) -> Ran:
    started = time.perf_counter()
    process = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=dict(env),
        preexec_fn=on_core(CLIENT_CORE),  # noqa: PLW1509 - this process has one thread
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit {process.returncode}")
    return Ran(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class Desk:
    """A temporary folder with data, caches and runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder), "NO_COLOR": "1"}
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self._runs = 0

    def rows(self, count: int) -> Path:
        path = self.folder / f"rows-{count}.jsonl"
        if not path.exists():
            pick = random.Random(count)
            with path.open("w", encoding="utf-8") as file:
                for number in range(count):
                    request, response = (" ".join(pick.choices(WORDS, k=size)) for size in (25, 70))
                    file.write(json.dumps({"id": f"row-{number}", "request": request, "response": response}) + "\n")
        return path

    def grade(self, url: str, count: int, *flags: str) -> Ran:
        return self.grade_file(url, self.rows(count), RUBRIC, *flags)

    def grade_file(self, url: str, data: Path, rubric: Path, *flags: str) -> Ran:
        self._runs += 1
        out = self.folder / f"run-{self._runs}"
        judge = f"compat:bench@{url}/v1"
        command = [sys.executable, "-m", "agentanvil", "grade", str(data), "--rubric", str(rubric)]
        result = ran([*command, "--judge", judge, "--out", str(out), "--quiet", *flags], self.env)
        shutil.rmtree(out)
        return result

    def raw(self, url: str, calls: int, concurrency: int, kind: str) -> float:
        arguments = [sys.executable, "-m", "benchmarks.raw", f"{url}/v1/chat/completions"]
        output = subprocess.run(
            [*arguments, str(calls), str(concurrency), kind],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
            preexec_fn=on_core(CLIENT_CORE),
        )
        return float(output.stdout)


def say(name: str, value: str, beside: str = "", aim: str = "") -> None:
    print(f"| {name} | {value} | {beside} | {aim} |", flush=True)


def throughput(desk: Desk, calls: int = 20_000) -> None:
    rates: list[float] = []
    raws: dict[str, list[float]] = {kind: [] for kind in ("aiohttp", "httpx-aiohttp", "httpx")}
    with provider() as url:
        for _ in range(3):
            for kind, found in raws.items():
                found.append(desk.raw(url, calls // (4 if kind == "httpx" else 1), 64, kind))
            urllib.request.urlopen(f"{url}/reset").close()
            desk.grade(url, calls, "--concurrency", "64", "--cache", "off")
            seen = stats(url)
            rates.append(seen["calls"] / seen["span_s"])
    rate = statistics.median(rates)
    beside = ", ".join(f"{kind} {statistics.median(found):,.0f}/s" for kind, found in raws.items())
    share = rate / statistics.median(raws["aiohttp"])
    say("calls/s, no latency, concurrency 64", f"{rate:,.0f}/s ({share:.0%} of aiohttp)", f"raw: {beside}", "2,500/s")


def latency(desk: Desk) -> None:
    for concurrency, calls in ((100, 4_000), (500, 20_000)):
        with provider(latency_s=0.2) as url:
            took = desk.grade(url, calls, "--concurrency", str(concurrency), "--cache", "off").wall_s
            seen = stats(url)
            ideal = calls * 0.2 / concurrency
            raw = calls / desk.raw(url, calls, concurrency, "aiohttp")
        say(
            f"200 ms, concurrency {concurrency}, {calls:,} calls",
            f"calls {(seen['span_s'] + 0.2) / ideal:.2f} × ideal, whole process {took / ideal:.2f} ×",
            f"raw aiohttp {raw / ideal:.2f} ×",
            "1.10 ×",
        )


def cached(desk: Desk, count: int = 20_000) -> None:
    with provider() as url:
        desk.grade(url, count, "--concurrency", "64")
        before = stats(url)["calls"]
        start = statistics.median(desk.grade(url, 1).wall_s for _ in range(3))
        again = statistics.median(desk.grade(url, count, "--concurrency", "64").wall_s for _ in range(3))
        calls = stats(url)["calls"] - before
    say(
        "fully cached re-run",
        f"{count / again:,.0f} rows/s whole process, {count / (again - start):,.0f} rows/s without its start",
        f"{calls:.0f} calls",
        "8,000 rows/s",
    )


def limits(desk: Desk) -> None:
    for name, flags, aim in (("told", ("--rpm", "1200"), "10.5 s, under 1 %"), ("untold", (), "12 s")):
        with provider(latency_s=0.05, per_second=20) as url:
            took = desk.grade(url, 200, "--cache", "off", *flags).wall_s
            seen = stats(url)
        rejected = seen["rejected"] / seen["calls"]
        say(f"20 calls/s, 200 rows, {name}", f"{took:.1f} s, {rejected:.1%} rejected", "floor about 10 s", aim)


def helping(desk: Desk) -> None:
    command = [sys.executable, "-m", "agentanvil", "--help"]
    ran(command, desk.env)
    walls = [ran(command, desk.env).wall_s for _ in range(9)]
    say("anvil --help", f"{statistics.median(walls):.3f} s", "", "0.25 s")


def memory(desk: Desk) -> None:
    with provider() as url:
        peaks = {n: desk.grade(url, n, "--concurrency", "64", "--cache", "off").peak_mb for n in (1_000, 100_000)}
    small, large = peaks.values()
    say("peak memory, 1,000 and 100,000 rows", f"{small:.0f} MB and {large:.0f} MB", f"{large / small:.2f} ×", "1.3 ×")


def trace_memory(desk: Desk) -> None:
    rubric = ROOT / "benchmarks" / "traces.yaml"
    flags = ("--concurrency", "64", "--cache", "off")
    for shape in traces.SHAPES:
        with provider() as url:
            files = [traces.write(desk.folder, shape, count) for count in (1_000, 10_000)]
            small, large = (desk.grade_file(url, file, rubric, *flags) for file in files)
        say(
            f"peak memory, 1,000 and 10,000 traces of {traces.STEPS} steps, {shape}",
            f"{small.peak_mb:.0f} MB and {large.peak_mb:.0f} MB",
            f"{large.peak_mb / small.peak_mb:.2f} ×, {10_000 / large.wall_s:,.0f} traces/s",
            "1.3 ×",
        )


PARTS: Mapping[str, Callable[[Desk], None]] = {
    "help": helping,
    "throughput": throughput,
    "latency": latency,
    "cached": cached,
    "limits": limits,
    "memory": memory,
    "traces": trace_memory,
}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    print("| what | anvil | beside | aim |\n| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="anvil-bench-") as folder:
        desk = Desk(Path(folder))
        for part in wanted:
            PARTS[part](desk)


if __name__ == "__main__":
    main()

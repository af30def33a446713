"""How fast and in how much memory a raw export is read, beside pandas.read_csv on the same file.

Makes exports of 100, 1000 and 10,000 launches out of a real one of 24 launches x 2,240 columns; in
each copy the digits of every number that is not a card's attribute are exchanged, so that no text
repeats more than in life. Each reader runs in a process of its own, turn by turn. Needs pandas, and
about 300 MB of disk in the temporary folder. Run
    python benchmarks/ingest.py [LAUNCHES ...]
"""

import csv
import gzip
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "tests" / "data" / "ncu" / "h200_raw.csv.gz"
ROUNDS = 5
_ROOFLENS = """
from pathlib import Path
from rooflens.analysis.readers.read_report import read_report
import resource, time
start = time.perf_counter()
rows = len(read_report(Path({path!r})).measurements)
print(time.perf_counter() - start, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
_PANDAS = """
import pandas, resource, time
start = time.perf_counter()
rows = len(pandas.read_csv({path!r}, thousands=",")) - 1  # the row of units
print(time.perf_counter() - start, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for launches in sizes:
            path = Path(folder) / f"{launches}.csv"
            made = make_export(path, launches)
            print(f"{made} launches, {path.stat().st_size / 1e6:.0f} MB")
            seen: dict[str, list[tuple[float, float]]] = {"rooflens": [], "pandas": []}
            for _ in range(ROUNDS):
                seen["rooflens"].append(measured(_ROOFLENS, path, made))
                seen["pandas"].append(measured(_PANDAS, path, made))
            for name, results in seen.items():
                seconds = [time for time, _ in results]
                peak = max(memory for _, memory in results)
                print(
                    f"  {name:<9}{statistics.median(seconds):8.2f} s "
                    f"({min(seconds):.2f} to {max(seconds):.2f}), {peak / 1e9:.2f} GB"
                )
            ratio = [other / own for (own, _), (other, _) in zip(*seen.values(), strict=True)]
            print(f"  pandas takes {min(ratio):.2f} to {max(ratio):.2f} x as long")
            path.unlink()


def make_export(path: Path, launches: int) -> int:
    """Writes an export of so many launches and returns their number."""
    with gzip.open(SOURCE, "rt", encoding="utf-8", newline="") as file:
        header, units, *rows = list(csv.reader(file))
    numeric = {
        place
        for place, name in enumerate(header)
        if "__" in name and not name.startswith(("device__", "launch__"))
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(header)
        writer.writerow(units)
        for index in range(launches):
            shift = index // len(rows) % 8
            digits = str.maketrans("123456789", "123456789"[shift:] + "123456789"[:shift])
            row = rows[index % len(rows)]
            cells = [
                cell.translate(digits) if place in numeric else cell
                for place, cell in enumerate(row)
            ]
            cells[0] = str(index)
            writer.writerow(cells)
    return launches


def measured(program: str, path: Path, launches: int) -> tuple[float, float]:
    """Seconds of the reading itself, and the process's largest resident set in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", program.format(path=str(path))],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, rows, kibibytes = done.stdout.split()
    if int(rows) != launches:
        raise SystemExit(f"read {rows} launches of {launches}")
    return float(seconds), int(kibibytes) * 1024.0


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [100, 1000, 10_000])

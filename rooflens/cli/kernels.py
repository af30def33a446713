"""`rooflens kernels`: the catalogue as a table or as JSON."""

import json
import sys

from rooflens.cli.console import stdout_console
from rooflens.cli.options import TextFormat
from rooflens.kernels.registry import catalogue


def list_kernels(output: TextFormat) -> int:
    """Prints every kernel in ladder order."""
    known = catalogue().values()
    if output is TextFormat.JSON:
        rows = [
            {
                "kernel": one.name,
                "family": one.family.name,
                "variant": one.variant,
                "idea": one.idea,
                "dtypes": list(one.dtypes),
                "sizes": {
                    name: [size.as_dict() for size in sizes]
                    for name, sizes in one.family.sizes.items()
                },
            }
            for one in known
        ]
        json.dump({"kernels": rows}, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return 0

    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("kernel", "idea", "dtypes", "sizes"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "kernel")
    for one in known:
        sizes = "; ".join(
            f"{name}: {' '.join(str(size) for size in sizes)}"
            for name, sizes in one.family.sizes.items()
        )
        table.add_row(Text(one.name), Text(one.idea), Text(" ".join(one.dtypes)), Text(sizes))
    stdout_console().print(table)
    return 0

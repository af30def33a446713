"""The `rooflens` command. Commands are thin; errors are caught once, in `main`."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from rooflens.analysis.readers.locale_numbers import DecimalMark
from rooflens.cli.options import INTERRUPTED_CODE, RunFormat, TextFormat, parse_dtype
from rooflens.errors import RooflensError, UsageError
from rooflens.version import VERSION

app = typer.Typer(
    name="rooflens",
    help="Time CUDA kernels exactly, place them on the roofline, say where numbers come from.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rooflens {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def kernels(
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """What is in the catalogue: family, variant, idea, dtypes, default sizes."""
    from rooflens.cli.kernels import list_kernels

    return list_kernels(output)


@app.command()
def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KERNEL|FAMILY]...", help="What to run; everything if left out."),
    ] = None,
    size_set: Annotated[
        str, typer.Option("--set", help="Default sizes: seed, dram or all.")
    ] = "seed",
    sizes: Annotated[
        list[str] | None, typer.Option("--size", help="rows=128,cols=4096; may be repeated.")
    ] = None,
    dtypes: Annotated[
        list[str] | None, typer.Option("--dtype", help="float32 ...; may be repeated.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, a card's number, or none to model without one.")
    ] = "auto",
    target: Annotated[
        str | None, typer.Option(help='Card to model where none is used ["GeForce RTX 4090"].')
    ] = None,
    cache: Annotated[str, typer.Option(help="Cache state to time: hot, cold or both.")] = "both",
    out: Annotated[
        str | None, typer.Option(help="Folder in which the run gets a folder of its own.")
    ] = None,
    launches: Annotated[
        bool, typer.Option("--launches", help="Also each launch, and what fusing saves.")
    ] = False,
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """Compile, check and time kernels (or model them without a GPU), and store the run."""
    from rooflens.cli.run import RunRequest, run_catalogue

    request = RunRequest(
        names=tuple(names or ()),
        size_set=size_set,
        sizes=tuple(sizes or ()),
        dtypes=tuple(dtypes or ()),
        device=device,
        target=target,
        cache=cache,
        out=out,
        as_json=output is TextFormat.JSON,
        launches=launches,
    )
    return run_catalogue(request)


@app.command("import")
def import_files(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Reports of ncu, nsys, nvprof, PyTorch."),
    ] = None,
    card: Annotated[
        str | None,
        typer.Option("--gpu", metavar="CARD", help="The card, where no report names it."),
    ] = None,
    decimal: Annotated[
        DecimalMark | None,
        typer.Option(help="How numbers are written, where the file does not tell."),
    ] = None,
    group: Annotated[
        bool, typer.Option("--group", help="One row for the launches of a kernel and shape.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(help="Folder in which the run gets a folder of its own.")
    ] = None,
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """Read reports of Nsight Compute and other profilers as a run with basis imported."""
    from rooflens.cli.import_reports import ImportRequest, import_reports

    request = ImportRequest(
        files=tuple(files or ()),
        card=card,
        decimal=decimal,
        out=out,
        as_json=output is TextFormat.JSON,
        group=group,
    )
    return import_reports(request)


@app.command("ncu-command")
def ncu_command(
    program: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM...", help="What to profile.")
    ] = None,
    report: Annotated[
        str, typer.Option(help="The file that ncu writes, for rooflens import.")
    ] = "rooflens-ncu.csv",
) -> int:
    """Print the ncu line that counts what rooflens import reads."""
    from rooflens.cli.ncu_command import print_ncu_command

    return print_ncu_command(tuple(program or ()), report)


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's folder or name, or a recorded run: h200.")
    ],
    launches: Annotated[
        bool, typer.Option("--launches", help="Each launch of each kernel, and what fusing saves.")
    ] = False,
    output: Annotated[RunFormat, typer.Option("--format", help="How to print.")] = RunFormat.TABLE,
) -> int:
    """Print a stored or a recorded run."""
    from rooflens.cli.show import show_run

    return show_run(name, output, launches=launches)


@app.command()
def ladder(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY [RUN]",
            help="A family, as softmax, and a run; the newest with its times if left out.",
        ),
    ] = None,
    seeds: Annotated[
        bool,
        typer.Option("--seeds", help="[RUN] beside the figures of the seed texts; no family."),
    ] = False,
    output: Annotated[RunFormat, typer.Option("--format", help="How to print.")] = RunFormat.TABLE,
) -> int:
    """The variants of a family in order: time, speed-up over the first, rate, roof, idea."""
    from rooflens.cli.ladder import print_ladder, print_seeds

    return (print_seeds if seeds else print_ladder)(tuple(names or ()), output)


@app.command("decode-cost")
def decode_cost(
    parameters: Annotated[float, typer.Option(help="Parameters of the model, as 8e9.")],
    layers: Annotated[int, typer.Option(help="Attention layers.")],
    kv_heads: Annotated[int, typer.Option(help="Key-value heads of a layer.")],
    dim: Annotated[int, typer.Option(help="Elements of a head.")],
    weight_bits: Annotated[float, typer.Option(help="Bits of a stored parameter.")] = 16,
    cache_dtype: Annotated[str, typer.Option(help="Storage type of keys and values.")] = "float16",
    batch: Annotated[int, typer.Option(help="Sequences that are decoded together.")] = 1,
    length: Annotated[int, typer.Option(help="Longest sequence.")] = 131072,
    target: Annotated[
        str | None, typer.Option(help='The card whose bandwidth it takes ["GeForce RTX 4090"].')
    ] = None,
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """What a decoded token reads: weights against the key-value cache, by length (modelled)."""
    from rooflens.analysis.decode_cost import DecodeModel
    from rooflens.cli.decode_cost import print_decode_cost, weight_bytes

    model = DecodeModel(
        weight_bytes=weight_bytes(parameters, weight_bits),
        layers=layers,
        kv_heads=kv_heads,
        dim=dim,
        cache_item_bytes=parse_dtype(cache_dtype).itemsize,
        batch=batch,
    )
    return print_decode_cost(model, length, target, output)


@app.command()
def devices(
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """The cards here as the driver describes them, and the known cards, with peaks and ridge."""
    from rooflens.cli.devices import list_cards

    return list_cards(output)


@app.command()
def doctor(
    output: Annotated[
        TextFormat, typer.Option("--format", help="How to print.")
    ] = TextFormat.TABLE,
) -> int:
    """What works on this machine and what does not, and the one thing to do about each."""
    from rooflens.cli.doctor import print_report

    return print_report(output)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code: 0, 1, 2 or 3 as documented."""
    if sys.stdout is None:  # closed by the caller: commands still run, and print to nowhere
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        result = app(args=arguments, prog_name="rooflens", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except typer.TyperException as error:
        print(f"rooflens: {_visible(error.format_message())}", file=sys.stderr)
        return error.exit_code
    except RooflensError as error:
        print(f"rooflens: {_visible(str(error))}", file=sys.stderr)
        if error.hint:
            print(f"rooflens: to mend it: {_visible(error.hint)}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        print("rooflens: interrupted", file=sys.stderr)
        return INTERRUPTED_CODE
    except OSError as error:
        print(f"rooflens: cannot write the output: {error.strerror or error}", file=sys.stderr)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - what is left goes there
        return UsageError.exit_code


def _visible(text: str) -> str:
    """Text that may quote a file or an argument, with "?" for what a terminal would obey."""
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)


def command() -> int:
    """`main` as a process of its own: it ends quietly when the reader of its output has left."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return main()

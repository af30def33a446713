"""nvprof's tables: summaries, traces and metrics, by hand."""

from pathlib import Path

import pytest

from rooflens.analysis.readers.nvprof_csv import is_nvprof, read_nvprof_csv
from rooflens.analysis.readers.read_report import read_report
from rooflens.errors import DataFormatError
from rooflens.measurement import Measurement
from rooflens.precision import Precision
from rooflens.reported import Report
from rooflens.terms import CacheState, MemoryLevel

SUMMARY = """==7== NVPROF is profiling process 7, command: ./app
done, 3 steps
==7== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",80.0,1.5,3,500.0,400.0,600.0,"void scale<float>(float*, int)"
"GPU activities",10.0,0.2,1,200.0,200.0,200.0,"fill(float*)"
"GPU activities",5.0,0.1,2,50.0,40.0,60.0,"[CUDA memcpy HtoD]"
"API calls",78.0,7.5,11,0.6,0.5,0.7,"cudaMemcpyAsync"
"""
TRACE = """==7== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread",\
"Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context",\
"Stream","Name","Correlation_ID"
ms,us,,,,,,,,KB,B,MB,GB/s,,,,,,,
1.0,1.568,,,,,,,,,,1.003906,0.610586,"Device",,"Tesla V100-SXM2-16GB (0)","1","7","[CUDA memset]",2
2.0,12.5,128,1,1,256,2,1,32,1.003906,64,,,,,"Tesla V100-SXM2-16GB (0)","1","7","scale(float*) [9]",9
"""
METRICS = """==7== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"flop_count_sp","FP32",100,200,150
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"dram_read_transactions","reads",10,10,10
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"dram_write_bytes","bytes",64,64,64
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"achieved_occupancy","share",0.5,0.5,0.500000
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"sm_efficiency","share",98.5%,98.5%,98.5%
"Tesla V100-SXM2-16GB (0)","scale(float*, int)",3,"dram_utilization","level","Low","Low","Low (2)"
"""


def rows(text: str) -> list[tuple[Measurement, Report]]:
    found = []
    for one in read_nvprof_csv(text, name="x").measurements:
        assert one.report is not None
        found.append((one, one.report))
    return found


def test_a_summary_tells_means_and_says_so() -> None:
    (scale, many), (fill, once) = rows(SUMMARY)
    assert scale.kernel == "scale<float>"
    assert many.launches == 3
    assert many.mean_time_s == 500e-6
    assert not scale.times
    assert "not their median" in many.absent["time"]
    assert fill.times[CacheState.REPORTED].samples_s == (200e-6,)
    assert once.source.row == 7


def test_a_trace_tells_each_launch() -> None:
    ((launch, report),) = rows(TRACE)
    assert launch.times[CacheState.REPORTED].samples_s == (12.5e-6,)
    assert report.kernel_name == "scale(float*)"
    assert (report.grid, report.block) == ((128, 1, 1), (256, 2, 1))
    assert report.registers == 32
    assert report.static_shared_bytes == 1028  # its KB are 1024 bytes
    assert report.dynamic_shared_bytes == 64
    assert report.device.name == "Tesla V100-SXM2-16GB"
    assert report.device.index == 0


def test_metrics_give_operations_and_bytes_and_no_time() -> None:
    ((row, report),) = rows(METRICS)
    assert report.flops == {Precision.FP32: 150}
    assert report.traffic_bytes == {MemoryLevel.DRAM: 10 * 32 + 64}
    assert report.fractions == {"achieved_occupancy": 0.5}
    assert not row.times
    assert "fp64 FLOP" in report.absent


def test_tables_of_one_file_are_all_read() -> None:
    assert len(rows(SUMMARY + TRACE + METRICS)) == 4


def test_it_is_told_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(TRACE.encode("utf-16"))
    assert len(read_report(file).measurements) == 1
    assert not is_nvprof('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TRACE.replace("ms,us", "ms,fortnight"), "x:5: Duration: got unit 'fortnight'"),
        (TRACE.replace("2.0,12.5,", "2.0,abc,"), "x:5: Duration: got 'abc', expected a number"),
        (TRACE.replace(",256,2,1,", ",256,1,"), "x:5: got 19 cells, expected 20"),
        (TRACE.replace(",128,1,1,", ",128.5,1,1,"), "expected a whole number"),
        (SUMMARY.replace(",3,500.0", ",0,500.0"), "Calls: got '0'"),
        (SUMMARY.splitlines()[3], "tables of nvprof without a kernel"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(DataFormatError) as caught:
        rows(text)
    assert said in str(caught.value)

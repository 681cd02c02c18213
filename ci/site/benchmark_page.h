// A benchmark's page: its nights, the changes found in it, its kernels, and how to reproduce it.
#pragma once

#include "ci/document/document.h"
#include "ci/site/nights_strip.h"
#include "ci/site/series.h"
#include "ci/site/site.h"

namespace fusegate::ci {

// Of the last night's run, where it has the benchmark; a pointer is empty where it has not.
struct BenchmarkOfRun {
  const baselines::BenchmarkSeries* candidate = nullptr;
  const baselines::BenchmarkSeries* baseline = nullptr;
  const baselines::Verdict* verdict = nullptr;
  const baselines::KernelDiff* diff = nullptr;
};
BenchmarkOfRun benchmark_of_run(const Site& site, const std::string& name);

// "regression", "missing", ...: the gate's; without a run, what the change points found in the last
// night say, and empty where they say nothing.
Cell verdict_cell(const Site& site, const Series& series, const BenchmarkOfRun& of_run);

// The gate's effect, or that of the last night.
Movement movement_of(const Site& site, const Series& series, const BenchmarkOfRun& of_run);

// rates: of the whole run. strip_height: of the strip below the history.
Document benchmark_document(const Site& site, const Series& series, const MeasuredRates* rates,
                            int strip_height);

}  // namespace fusegate::ci

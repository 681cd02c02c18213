// What pytest-benchmark writes with --benchmark-json or saves with --benchmark-save
// (https://pytest-benchmark.readthedocs.io). A test is a benchmark, by its full name. Its rounds
// are the samples where the file has them (stats.data); without them their mean is the one sample.
#pragma once

#include <string>
#include <string_view>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {

inline constexpr std::string_view kPytestBenchmarkMark = "machine_info";

// Throws InputError naming source and field: of another form, some tests with their rounds and some
// without.
ForeignFile read_pytest_benchmark(std::string text, const std::string& source);

}  // namespace fusegate::baselines

// The flag that makes a Google Benchmark program measure some benchmarks and no others.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fusegate::ci {

// "--benchmark_filter=^(name|name)...$", a POSIX extended regular expression in which each name
// stands for itself alone, with or without what Google Benchmark appends to it ("/manual_time").
// Nothing where it would be longer than Linux lets one argument be.
std::optional<std::string> benchmark_filter_flag(const std::vector<std::string>& names);

}  // namespace fusegate::ci

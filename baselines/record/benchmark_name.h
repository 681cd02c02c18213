// Reads the names of benchmarks of fusegate's programs, such as
// geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/hidden:3072 or
// attention/flash/fp16/heads:16/kv:4096/causal:true: operation, implementation, dtype, and any
// axes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusegate::baselines {

struct BenchmarkName {
  std::string operation;
  std::string implementation;
  std::string dtype;
  std::vector<std::pair<std::string, std::int64_t>> axes;  // in the name's order; one at least
  // Axes of names, fractions and switches, likewise.
  std::vector<std::pair<std::string, std::string>> labels{};

  std::int64_t axis(std::string_view name) const;  // 0 where there is none of that name
  // M = batch x seq; 0 where one of the two is missing.
  std::int64_t rows() const { return axis("batch") * axis("seq"); }

  bool operator==(const BenchmarkName&) const = default;
};

// Nothing for any other name. Names of plain Google Benchmark programs are not points of a sweep,
// even with named arguments and Google Benchmark's suffixes ("/threads:4").
std::optional<BenchmarkName> parse_benchmark_name(std::string_view name);

// "batch 64, seq 128, dim 768, hidden 3072", its labels last.
std::string problem_text(const BenchmarkName& name);

// "fp16", or with its labels "fp16, causal true": what a sweep of its own is of.
std::string dtype_text(const BenchmarkName& name);

}  // namespace fusegate::baselines

// Reads the names of fusegate's own benchmarks, such as
// geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/hidden:3072
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fusegate::baselines {

struct BenchmarkName {
  std::string operation;
  std::string implementation;
  std::string dtype;
  std::int64_t batch = 0;
  std::int64_t seq = 0;
  std::int64_t dim = 0;
  std::int64_t hidden = 0;

  std::int64_t rows() const { return batch * seq; }  // M
};

// nothing for any other name: those of plain Google Benchmark programs are no points of a sweep.
std::optional<BenchmarkName> parse_benchmark_name(std::string_view name);

// "batch 64, seq 128, dim 768, hidden 3072"
std::string problem_text(const BenchmarkName& name);

}  // namespace fusegate::baselines

#include "baselines/formats/read_foreign.h"

#include <array>
#include <utility>

#include "baselines/formats/nvbench.h"
#include "baselines/formats/pytest_benchmark.h"
#include "baselines/io/file_mark.h"

namespace fusegate::baselines {

std::optional<ForeignFile> read_foreign(std::string& text, const std::filesystem::path& path) {
  static constexpr std::array kMarks{kNvbenchMark, kPytestBenchmarkMark};
  const std::string mark = first_mark(text, kMarks);
  if (mark.empty()) return std::nullopt;
  if (mark == kNvbenchMark) return read_nvbench(std::move(text), path);
  return read_pytest_benchmark(std::move(text), path.string());
}

}  // namespace fusegate::baselines

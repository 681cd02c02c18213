#include "baselines/formats/read_foreign.h"

#include <algorithm>
#include <array>
#include <utility>

#include "baselines/formats/criterion.h"
#include "baselines/formats/nvbench.h"
#include "baselines/formats/pytest_benchmark.h"
#include "baselines/io/error.h"
#include "baselines/io/file_mark.h"

namespace fusegate::baselines {

namespace fs = std::filesystem;

std::optional<ForeignFile> read_foreign(std::string& text, const fs::path& path) {
  static constexpr std::array kMarks{kNvbenchMark, kPytestBenchmarkMark, kCriterionMarks[0],
                                     kCriterionMarks[1]};
  const std::string mark = first_mark(text, kMarks);
  if (mark.empty()) return std::nullopt;
  if (mark == kNvbenchMark) return read_nvbench(std::move(text), path);
  if (mark == kPytestBenchmarkMark) return read_pytest_benchmark(std::move(text), path.string());
  throw InputError(path.string(), "",
                   "is one of several files of criterion's: name the folder that holds its "
                   "benchmarks, a copy of target/criterion a process");
}

std::vector<fs::path> foreign_folders(const fs::path& folder) { return criterion_trees(folder); }

ForeignFile read_foreign_folder(const fs::path& folder) { return read_criterion(folder); }

}  // namespace fusegate::baselines

#include "ci/processes/google_benchmark.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "baselines/io/file_io.h"
#include "baselines/io/instant.h"
#include "baselines/io/pattern.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFilterFlag = "--benchmark_filter=";

bool is_fusegates(const std::string& word) {
  const fs::path path = word;
  if (path.stem() == "fusegate" || path.stem() == "fusegate_bench") return true;
  return path.extension() == ".py" && fs::is_regular_file(path) &&
         baselines::read_file(path).find("fusegate") != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Google Benchmark's filter as a predicate; true where it is not a regular expression of ours.
bool passes(const std::string& name, std::string_view filter) try {
  if (filter.empty() || filter == "all") return true;
  const bool excludes = filter.starts_with('-');
  return baselines::Pattern(filter.substr(excludes ? 1 : 0)).fits(name) != excludes;
} catch (const std::invalid_argument&) {
  return true;
}

}  // namespace

std::optional<GoogleBenchmark> ask_for_google_benchmark(const std::string& program,
                                                        const std::vector<std::string>& flags) {
  if (std::ranges::any_of(command_words(program), is_fusegates)) return std::nullopt;
  const std::string help = output_of({program, "--help"});
  const auto lists = [&help](std::string_view flag) { return help.find(flag) != help.npos; };
  if (!lists("--benchmark_out=") || lists("--suite")) return std::nullopt;
  std::vector<std::string> call{program};
  call.insert(call.end(), flags.begin(), flags.end());
  // Without a file of its own: it would open one.
  for (const char* flag : {"--benchmark_out=", "--benchmark_list_tests=true"}) {
    call.emplace_back(flag);
  }
  return GoogleBenchmark{lines_of(output_of(call))};
}

std::vector<std::string> google_benchmark_flags(std::vector<std::string> flags,
                                                const fs::path& run_file) {
  flags.push_back("--benchmark_out=" + run_file.string());
  flags.emplace_back("--benchmark_out_format=json");
  return flags;
}

bool is_google_benchmark_preamble(std::string_view line) {
  constexpr std::array<std::string_view, 8> kStarts{
      "Running ",       "Run on (",      "CPU Caches:", "  L",
      "Load Average: ", "***WARNING***", "-----",       "Benchmark  "};
  return baselines::parse_instant(line) ||
         std::ranges::any_of(kStarts, [line](auto start) { return line.starts_with(start); });
}

GoogleBenchmarkConsole::GoogleBenchmarkConsole(const GoogleBenchmark& program,
                                               const std::vector<std::string>& flags) {
  std::string_view filter;
  for (const std::string& flag : flags) {
    if (flag.starts_with(kFilterFlag)) filter = std::string_view(flag).substr(kFilterFlag.size());
  }
  for (const std::string& name : program.benchmarks) {
    if (passes(name, filter)) left_.insert(name);
  }
  total_ = static_cast<int>(left_.size());
}

std::optional<ProgressEvent> GoogleBenchmarkConsole::event_of(std::string_view line) {
  // "BM_x/8   12 ns   12 ns   1000" or "BM_x/8   ERROR OCCURRED: 'no memory'". Names may have
  // blanks.
  auto done = left_.end();
  for (auto name = left_.begin(); name != left_.end(); ++name) {
    if (!line.starts_with(*name) || !line.substr(name->size()).starts_with(' ')) continue;
    if (done == left_.end() || name->size() > done->size()) done = name;
  }
  if (done == left_.end()) return std::nullopt;
  ProgressEvent event{.total = total_, .benchmark = *done};
  constexpr std::string_view kError = "ERROR OCCURRED: '";
  if (const auto error = line.find(kError); error != line.npos && line.ends_with('\'')) {
    event.failure = line.substr(error + kError.size(), line.size() - error - kError.size() - 1);
  }
  left_.erase(done);
  event.index = total_ - static_cast<int>(left_.size());
  return event;
}

}  // namespace fusegate::ci

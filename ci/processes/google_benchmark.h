// A program that knows Google Benchmark's own flags and none of fusegate's: what is asked of it
// once, what it is given then, and what the lines of its console say.
// https://github.com/google/benchmark/blob/main/docs/user_guide.md#running-benchmarks
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ci/processes/progress.h"

namespace fusegate::ci {

struct GoogleBenchmark {
  // What it measures, as it lists it; empty where it does not say.
  std::vector<std::string> benchmarks{};
};

// Nothing where --help lists fusegate's flags, or does not answer within seconds. Programs that are
// fusegate's by their name or their Python text are not asked: some take seconds to load.
// flags: the user's.
std::optional<GoogleBenchmark> ask_for_google_benchmark(const std::string& program,
                                                        const std::vector<std::string>& flags);

// Its whole command line after the program: its own output stands last, where it counts.
std::vector<std::string> google_benchmark_flags(std::vector<std::string> flags,
                                                const std::filesystem::path& run_file);

// Its own main refuses a flag so, before it measures anything.
inline constexpr std::string_view kGoogleBenchmarkRefusal = "unrecognized command-line flag";

// A line about the machine, or the head of the table: what it prints first, and which explains no
// failure.
bool is_google_benchmark_preamble(std::string_view line);

// Benchmarks that are done, by the lines of standard output.
class GoogleBenchmarkConsole {
 public:
  // flags: of this process. The last --benchmark_filter decides which benchmarks it measures.
  GoogleBenchmarkConsole(const GoogleBenchmark& program, const std::vector<std::string>& flags);

  // Nothing where the line is no benchmark's first one.
  std::optional<ProgressEvent> event_of(std::string_view line);

 private:
  std::set<std::string, std::less<>> left_;
  int total_ = 0;
};

}  // namespace fusegate::ci

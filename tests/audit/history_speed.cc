// How long a night takes to be added to a large history, a benchmark's series to be read, and how
// large the file is: adds nights of numbers to a history of its own.
//
//   fusegate_history_speed [--benchmarks=10000] [--nights=1000]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "baselines/history/history.h"
#include "baselines/history/test_night.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr int kTimed = 10;

struct Options {
  int benchmarks = 10'000;
  int nights = 1000;
};

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(const char* what, const std::vector<double>& seconds) {
  fmt::print("{}: {:.1f} ms, at most {:.1f} ms\n", what, 1e3 * median(seconds),
             1e3 * *std::ranges::max_element(seconds));
}

// Each by a connection of its own, as a command has.
void measure(const Options& options) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "history.db";
  std::vector<double> added, read;
  for (int i = 0; i < options.nights + kTimed; ++i) {
    const Night night = test_night(i, options.benchmarks);
    added.push_back(seconds_of([&] { History(file, DatabaseUse::kWrite).add(night); }));
  }
  added.erase(added.begin(), added.end() - kTimed);
  const Night night = test_night(0, options.benchmarks);
  std::size_t points = 0;
  for (int i = 0; i < kTimed; ++i) {
    const auto which = static_cast<std::size_t>(i) * night.benchmarks.size() / kTimed;
    read.push_back(seconds_of([&] {
      points = History(file, DatabaseUse::kRead).series(night.benchmarks[which].name).size();
    }));
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(file));
  fmt::print("{} benchmarks, {} nights, {:.0f} MB, {:.1f} kB a night\n", options.benchmarks, points,
             bytes / 1e6, bytes / 1e3 / static_cast<double>(points));
  print("add a night", added);
  print("read a series", read);
}

}  // namespace
}  // namespace fusegate::baselines

int main(int argc, char** argv) {
  fusegate::baselines::Options options;
  CLI::App app("How long a history takes to add a night and to read a benchmark's series.");
  app.add_option("--benchmarks", options.benchmarks)->check(CLI::PositiveNumber);
  app.add_option("--nights", options.nights)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    fusegate::baselines::measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusegate_history_speed: {}\n", error.what());
    return 2;
  }
}

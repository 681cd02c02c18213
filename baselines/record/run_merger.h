// Makes one run of the invocations' run files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baselines/launches/identities.h"
#include "baselines/record/run.h"
#include "baselines/record/run_blocks.h"

namespace fusegate::baselines {

class RunMerger {
 public:
  // In the order of the invocations. Throws InputError where the environment differs from the
  // first invocation's, or another tool measured it.
  void add(RunFile&& file, const std::string& source, const InvocationPlace& place);
  // What was found out before the invocations. After them, as it counts only where they say
  // nothing. Throws as add() does.
  void add_identities(Identities&& identities, const std::string& source);
  Run take();

 private:
  struct Series {
    BenchmarkSeries series;
    std::map<std::string, std::vector<double>> counters;
    std::vector<KernelProfile> profiles;
    std::vector<StageTimes> stage_times;
    std::vector<CallIdentity> identities;
    std::vector<CallIdentity> identities_before;  // anything was measured
    std::string failure_before;
    std::map<std::string, double> counters_before;
    std::map<std::string, std::string> choices_before;
  };

  int card_number(const std::string& uuid);
  void add_context(RunFile&& file, const std::string& source);
  [[noreturn]] void refuse(const std::string& field, const EnvironmentDifference& difference,
                           std::string_view shared, const std::string& source) const;
  void add_benchmark(BenchmarkResult&& result);
  // control: by a file that has it; of a benchmark all files must say so.
  Series& series_of(const std::string& name, bool control);

  std::string first_source_;
  std::vector<std::filesystem::path> files_;  // of the invocations
  std::vector<bool> are_extensions_;          // likewise
  Run run_;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fusegate::baselines

// Merges the run files of processes into one run.
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
  // In the order of the processes. Throws InputError where the environment differs from the first
  // process's, or another tool measured it.
  void add(RunFile&& file, const std::string& source, const ProcessPosition& position);
  // What was recorded before measuring; call it after add(), as the processes take precedence.
  // Throws as add() does.
  void add_identities(Identities&& identities, const std::string& source);
  Run take();

 private:
  struct Series {
    BenchmarkSeries series;
    std::map<std::string, std::vector<double>> counters;
    std::vector<KernelProfile> profiles;
    std::vector<StageTimes> stage_times;
    std::vector<CallIdentity> identities;
    // Recorded before measuring.
    std::vector<CallIdentity> identities_before;
    std::string failure_before;
    std::map<std::string, double> counters_before;
    std::map<std::string, std::string> choices_before;
  };

  int card_number(const std::string& uuid);
  void add_context(RunFile&& file, const std::string& source);
  [[noreturn]] void refuse(const std::string& field, const EnvironmentDifference& difference,
                           std::string_view shared, const std::string& source) const;
  void add_benchmark(BenchmarkResult&& result);
  // control: in one file; a control must be one in all files that have it.
  Series& series_of(const std::string& name, bool control);

  std::string first_source_;
  std::vector<std::filesystem::path> files_;  // of the processes
  std::vector<ProcessPosition> positions_;    // likewise
  Run run_;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fusegate::baselines

// Gathers the entries of one run file into one result a benchmark.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "baselines/record/process.h"
#include "baselines/record/run_file_parser.h"

namespace fusegate::baselines {

// cycles: one per time, NaN where a sample has no clock.
ProcessSummary summary_of(const std::vector<double>& times_ns, const std::vector<double>& cycles);

class SampleCollector {
 public:
  explicit SampleCollector(std::string source) : source_(std::move(source)) {}

  // A bad value (a time of zero, not a number) fails its benchmark. Throws InputError for an entry
  // that has no name or repeats another.
  void add(const RunFileEntry& entry);
  // Fills benchmarks, in file order, skipped and left_out. is_ours: a fusegate program wrote the
  // file, so its counters mean what ours do. Throws where the file has only aggregates.
  void finish(bool is_ours, RunFile& file);

 private:
  struct Counter {
    std::string name;
    std::vector<double> values;
  };
  struct Samples {
    std::string name;
    std::optional<double> family_index;
    std::optional<double> per_family_instance_index;
    // Repetitions come in order, except in edited files.
    double repetitions_in_order = 0;
    std::unordered_set<double> other_repetitions;
    std::vector<double> times_ns;
    std::vector<double> cycles;
    std::string failure;
    std::string bad_counter;  // of fusegate's, with its field
    std::string skip_reason;  // the program's
    int entries = 0;
    bool is_typed = false;  // its entries say what they are
    bool is_indexed = false;
    std::vector<Counter> counters;
    std::unordered_map<std::string, std::size_t> counter_index;
    std::map<std::string, std::string> choices;
    std::vector<Warning> warnings;
    std::map<std::string, double> of_process;  // counters that it has one value of
    std::optional<KernelProfile> profile;
    std::optional<StageTimes> stage_times;
    std::optional<TraceExpectation> expectation;
    std::optional<CallIdentity> identity;
  };

  Samples& samples_of(const RunFileEntry& entry);
  void add_aggregate(const RunFileEntry& entry);
  void check_repetition(const RunFileEntry& entry, Samples& samples) const;
  void mix_fingerprint(const RunFileEntry& entry);
  void take_untyped_aggregates();
  void refuse_doubled() const;
  void add_details(const RunFileEntry& entry, Samples& samples) const;
  static void add_counters(const RunFileEntry& entry, Samples& samples);
  static BenchmarkResult result(Samples&& samples, bool is_ours);

  std::string source_;
  std::vector<Samples> benchmarks_;
  std::unordered_map<std::string, std::size_t> index_;
  std::set<std::string> aggregated_;  // names of benchmarks that have aggregates
  bool has_fits_ = false;             // to families, which are no benchmark's
  std::size_t fingerprint_ = 0;
};

}  // namespace fusegate::baselines

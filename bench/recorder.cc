#include "bench/recorder.h"

#include <cmath>

#include "baselines/statistics.h"
#include "bench/commit.h"

namespace fusegate {
namespace {

using nlohmann::json;

std::vector<std::string> names_of(const std::set<Doubt>& doubts) {
  std::vector<std::string> names;
  for (const Doubt doubt : doubts) names.emplace_back(doubt_name(doubt));
  return names;
}

json details(const BenchmarkRecord& record) {
  json stages = json::array(), choices = json::object();
  for (const Stage& stage : record.stages) {
    stages.push_back(
        {{"name", stage.name}, {"flops", stage.flops}, {"min_bytes", stage.min_bytes}});
    if (!stage.choice.empty()) choices[stage.name] = stage.choice;
  }
  return {{"stages", stages},
          {"choices", choices},
          {"doubts", names_of(record.doubts)},
          {"throttle_reasons", record.throttle_reasons},
          {"relative_error", record.relative_error}};
}

json entry(const std::string& name, int family, int invocation, int repetitions, int index) {
  return {{"name", name},
          {"family_index", family},
          {"per_family_instance_index", 0},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", repetitions},
          {"repetition_index", index},
          {"threads", 1},
          {"invocation", invocation}};
}

json failed_entry(json entry, const std::string& failure) {
  entry["error_occurred"] = true;
  entry["error_message"] = failure;
  // compare.py of Google Benchmark reads these of every entry.
  entry["iterations"] = 0;
  entry["real_time"] = 0.0;
  entry["cpu_time"] = 0.0;
  entry["time_unit"] = "ns";
  return entry;
}

std::vector<double> times_of(const std::vector<SampleEntry>& samples) {
  std::vector<double> times;
  for (const SampleEntry& sample : samples) times.push_back(sample.real_time_ns);
  return times;
}

}  // namespace

json fusegate_context(const InvocationInfo& info, const EnvironmentProbe& probe) {
  return {{"schema_version", kRunFileSchemaVersion},
          {"suite", info.suite},
          {"invocation", info.number},
          {"seed", info.seed},
          {"provenance",
           {{"commit", kCommit}, {"dirty", kCommitDirty}, {"device_uuid", probe.device_uuid()}}},
          {"protocol", info.protocol.to_json()},
          {"environment", probe.environment()},
          {"machine", probe.machine()},
          {"doubts", names_of(probe.doubts())},
          {"finished", false}};
}

std::vector<json> benchmark_entries(const std::string& name, int family, int invocation,
                                    const std::vector<SampleEntry>& samples,
                                    const BenchmarkRecord& record) {
  const int repetitions = static_cast<int>(samples.size());
  if (!record.failure.empty()) {
    return {failed_entry(entry(name, family, invocation, 1, 0), record.failure)};
  }
  std::vector<json> entries;
  for (const SampleEntry& sample : samples) {
    json one = entry(name, family, invocation, repetitions, sample.index);
    one["iterations"] = sample.iterations;
    one["real_time"] = sample.real_time_ns;
    one["cpu_time"] = sample.cpu_time_ns;
    one["time_unit"] = "ns";
    for (const auto& [counter, value] : sample.counters) {
      if (std::isfinite(value)) one[counter] = value;
    }
    if (entries.empty()) one["details"] = details(record);
    entries.push_back(std::move(one));
  }
  return entries;
}

std::string progress_line(const std::string& name, int index, int total,
                          const std::vector<SampleEntry>& samples, const BenchmarkRecord& record) {
  json event{{"event", "benchmark"}, {"index", index}, {"total", total}, {"benchmark", name}};
  if (!record.failure.empty()) {
    event["failure"] = record.failure;
  } else {
    const std::vector<double> times = times_of(samples);
    event["time_ns"] = median(times);
    event["spread"] = median_absolute_deviation(times) / median(times);
  }
  return "@fusegate " + event.dump();
}

}  // namespace fusegate

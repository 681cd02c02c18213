#include "bench/measuring/run_file_entries.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "baselines/record/run_context.h"
#include "baselines/record/run_file.h"
#include "bench/machine/origin.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

std::vector<std::string> names_of(const std::set<baselines::Warning>& warnings) {
  std::vector<std::string> names;
  for (const baselines::Warning warning : warnings)
    names.emplace_back(baselines::warning_name(warning));
  return names;
}

// When the process first asked, the same in all of its files.
std::int64_t process_start_ns() {
  static const auto start = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(start).count();
}

json kernels_json(const std::vector<kernels::KernelResources>& kernels) {
  json list = json::array();
  for (const kernels::KernelResources& kernel : kernels) {
    list.push_back({{"name", kernel.name},
                    {"blocks", kernel.blocks},
                    {"threads_per_block", kernel.threads_per_block},
                    {"registers", kernel.registers},
                    {"static_shared_bytes", kernel.static_shared_bytes},
                    {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
                    {"blocks_per_sm", kernel.blocks_per_sm},
                    {"occupancy", kernel.occupancy}});
  }
  return list;
}

json full_details(const BenchmarkRecord& record) {
  json stages = json::array(), choices = json::object(), notes = json::object();
  for (const kernels::Stage& stage : record.stages) {
    stages.push_back(
        {{"name", stage.name}, {"flops", stage.flops}, {"min_bytes", stage.min_bytes}});
    if (!stage.kernels.empty()) stages.back()["kernels"] = kernels_json(stage.kernels);
    if (!stage.choice.empty()) choices[stage.name] = stage.choice;
    if (!stage.note.empty()) notes[stage.name] = stage.note;
  }
  if (!record.not_capturable.empty()) notes["not_capturable"] = record.not_capturable;
  json details{{"stages", stages}, {"choices", choices}, {"relative_error", record.relative_error}};
  if (!notes.empty()) details["notes"] = notes;
  return details;
}

json entry(const EntryHead& head, int index) {
  return {{"name", head.name},
          {"family_index", head.family},
          {"per_family_instance_index", 0},
          {"run_name", head.name},
          {"run_type", "iteration"},
          {"repetitions", head.repetitions},
          {"repetition_index", index},
          {"threads", 1},
          {"process", head.process}};
}

json entry_of(const EntryHead& head, int index, const BenchmarkRecord& record,
              const Sample& sample) {
  json one = entry(head, index);
  one["iterations"] = record.calls;
  one["real_time"] = sample.batch_ns / record.calls;
  one["cpu_time"] = sample.cpu_ns / record.calls;
  one["time_unit"] = "ns";
  for (const auto& [counter, value] : counters(record, sample)) one[counter] = value;
  return one;
}

}  // namespace

json origin_json(const ProcessInfo& info, const EnvironmentProbe& probe) {
  json provenance{{"commit", program_origin().commit},
                  {"dirty", program_origin().dirty},
                  {"toolchain", program_origin().toolchain},
                  {"fusegate", library_version()},
                  {"device_uuid", probe.device_uuid()}};
  if (!info.settings.empty()) {
    provenance[baselines::kSettings] = baselines::settings_json(info.settings);
  }
  for (const baselines::Model& model : info.models) {
    provenance["models"].push_back(baselines::model_json(model));
  }
  return {{"suite", info.suite},
          {"seed", info.seed},
          {"provenance", std::move(provenance)},
          {"environment", probe.environment()},
          {"machine", probe.machine()},
          {"warnings", names_of(probe.warnings())}};
}

json fusegate_context(const ProcessInfo& info, const EnvironmentProbe& probe) {
  json context = origin_json(info, probe);
  context["schema_version"] = baselines::kRunFileSchemaVersion;
  context["process"] = info.number;
  context["process_id"] = getpid();
  context["process_start_ns"] = process_start_ns();
  context["protocol"] = info.protocol.to_json();
  context["controls"] = info.controls;
  context["compared_with"] = info.compared_with;
  if (!info.across_ranks.empty()) {
    context["across_ranks"] = baselines::across_ranks_json(info.across_ranks);
  }
  context["finished"] = false;
  return context;
}

std::map<std::string, double> counters(const BenchmarkRecord& record, const Sample& sample) {
  std::map<std::string, double> counters{{"flops", record.flops},
                                         {"min_bytes", record.min_bytes},
                                         {"memory_bytes", record.memory_bytes},
                                         {"host_ns", record.host_ns},
                                         {"host_graph_ns", record.host_graph_ns},
                                         {"sm_clock_hz", sample.sm_clock_hz}};
  if (record.kept_bytes) counters["kept_bytes"] = *record.kept_bytes;
  if (record.not_capturable.empty()) {
    counters["kernel_launches"] = static_cast<double>(record.launches.kernels);
  }
  if (record.launches.memory_operations > 0) {
    counters["memory_operations"] = static_cast<double>(record.launches.memory_operations);
  }
  std::erase_if(counters, [](const auto& counter) { return !std::isfinite(counter.second); });
  return counters;
}

std::vector<json> layout_entries(const EntryHead& head, int first_index, const LayoutRecord& layout,
                                 const BenchmarkRecord& record) {
  std::vector<json> entries;
  for (const Sample& sample : layout.samples) {
    const int index = first_index + static_cast<int>(entries.size());
    entries.push_back(entry_of(head, index, record, sample));
  }
  json details = first_index == 0 ? full_details(record) : json::object();
  if (!layout.warnings.empty()) details["warnings"] = names_of(layout.warnings);
  if (!layout.throttle_reasons.empty()) details["throttle_reasons"] = layout.throttle_reasons;
  if (!details.empty()) entries.at(0)["details"] = std::move(details);
  return entries;
}

json failed_entry(const EntryHead& head, int index, const std::string& failure) {
  json failed = entry(head, index);
  failed["error_occurred"] = true;
  failed["error_message"] = failure;
  // compare.py of Google Benchmark reads these of every entry.
  failed["iterations"] = 0;
  failed["real_time"] = 0.0;
  failed["cpu_time"] = 0.0;
  failed["time_unit"] = "ns";
  return failed;
}

}  // namespace fusegate::bench

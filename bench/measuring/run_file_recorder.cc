#include "bench/measuring/run_file_recorder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::bench {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// Writes are at least this many times the last write's duration apart, so that writing takes 2 % of
// the time at most. On the H200's machine a write took 4 to 5 ms: after each of pr's 560 layouts,
// that would be 2.5 s of 27.
constexpr int kTimesAWrite = 50;

// Never empty: an empty failure means success.
std::string failure_text(const std::string& text) { return text.empty() ? "failed" : text; }

// A name or an error message may hold bytes that are no UTF-8.
std::string line(const json& event) {
  return "@fusegate " + event.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

RunFileRecorder::RunFileRecorder(const Plan& plan, const ProcessInfo& info) : info_(info) {
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    progress_.push_back({.head = {.name = benchmark.name(),
                                  .family = static_cast<int>(progress_.size()),
                                  .process = info.number,
                                  .repetitions = info.protocol.samples},
                         .failure = {},
                         .times_ns = {}});
  }
}

void RunFileRecorder::resume(const std::filesystem::path& path) {
  const json whole = baselines::parse_json(baselines::read_regular_file(path), path.string());
  const baselines::JsonField root(whole, path.string(), "");
  const auto context = root.find("context");
  const auto fusegate = context ? context->find("fusegate") : std::nullopt;
  if (fusegate) earlier_warnings_ = baselines::read_warnings(*fusegate);
  std::map<std::string, BenchmarkProgress*> by_name;
  for (BenchmarkProgress& progress : progress_) by_name[progress.head.name] = &progress;
  std::map<BenchmarkProgress*, int> samples;
  for (const baselines::JsonField& entry : root.at("benchmarks").elements()) {
    pending_.push_back(entry.value());
    const auto found = by_name.find(entry.at("name").text());
    if (found == by_name.end()) continue;
    BenchmarkProgress& progress = *found->second;
    progress.head.family = entry.at("family_index").integer();
    if (entry.find("error_occurred")) {
      progress.failure = failure_text(entry.text_or_empty("error_message"));
    } else {
      ++samples[&progress];
    }
  }
  for (const auto& [progress, count] : samples) {
    while (info_.protocol.first_sample(progress->layouts) < count) ++progress->layouts;
  }
}

void RunFileRecorder::open(const std::filesystem::path& path, json context) {
  baselines::add_warning_names(context["fusegate"]["warnings"], earlier_warnings_);
  // One write with the entries of the resumed file: a process killed right after it loses nothing.
  writer_.emplace(path, std::move(context), std::exchange(pending_, {}));
}

void RunFileRecorder::add_layout(std::size_t benchmark, const LayoutRecord& layout,
                                 const BenchmarkRecord& record) {
  BenchmarkProgress& progress = progress_[benchmark];
  const int first = info_.protocol.first_sample(progress.layouts);
  std::ranges::move(layout_entries(progress.head, first, layout, record),
                    std::back_inserter(pending_));
  for (const Sample& sample : layout.samples)
    progress.times_ns.push_back(sample.batch_ns / record.calls);
  ++progress.layouts;
  flush_if_due();
}

void RunFileRecorder::add_failure(std::size_t benchmark, const std::string& failure) {
  BenchmarkProgress& progress = progress_[benchmark];
  const int samples = info_.protocol.first_sample(progress.layouts);
  progress.failure = failure_text(failure);
  pending_.push_back(failed_entry(progress.head, samples, progress.failure));
  flush();  // the process may be about to end
}

void RunFileRecorder::add_details(const std::map<std::size_t, json>& details) {
  std::map<std::string, json> by_name;
  for (const auto& [benchmark, members] : details)
    by_name[progress_[benchmark].head.name] = members;
  if (writer_) writer_->add_details(by_name);
}

void RunFileRecorder::flush() {
  const std::vector<json> entries = std::exchange(pending_, {});
  if (!writer_ || entries.empty()) return;
  const auto start = Clock::now();
  writer_->append(entries);
  last_write_ = Clock::now();
  last_write_took_ = last_write_ - start;
  recording_ += last_write_took_;
}

void RunFileRecorder::flush_if_due() {
  if (Clock::now() - last_write_ >= kTimesAWrite * last_write_took_) flush();
}

void RunFileRecorder::leave(const std::set<baselines::Warning>& warnings) {
  flush();
  if (writer_) writer_->add_warnings({warnings.begin(), warnings.end()});
}

void RunFileRecorder::finish(const std::set<baselines::Warning>& warnings) {
  flush();
  if (writer_) writer_->finish({warnings.begin(), warnings.end()});
}

int RunFileRecorder::layouts_done(const BenchmarkProgress& progress) const {
  const int all = info_.protocol.layouts;
  return progress.failure.empty() ? std::min(progress.layouts, all) : all;
}

bool RunFileRecorder::is_complete(std::size_t benchmark) const {
  return layouts_done(progress_[benchmark]) == info_.protocol.layouts;
}

int RunFileRecorder::selected_benchmarks() const {
  return static_cast<int>(std::ranges::count_if(progress_, &BenchmarkProgress::selected));
}

int RunFileRecorder::complete_benchmarks() const {
  int complete = 0;
  for (std::size_t i = 0; i < progress_.size(); ++i) complete += selected(i) && is_complete(i);
  return complete;
}

bool RunFileRecorder::is_everything_complete() const {
  return complete_benchmarks() == selected_benchmarks();
}

int RunFileRecorder::failures() const {
  return static_cast<int>(std::ranges::count_if(
      progress_, [](const BenchmarkProgress& a) { return !a.failure.empty(); }));
}

std::string RunFileRecorder::note_line(const std::string& text) {
  return line({{"event", "note"}, {"text", text}});
}

std::string RunFileRecorder::start_line() const {
  return line({{"event", "start"},
               {"total", selected_benchmarks() * info_.protocol.layouts},
               {"benchmarks", selected_benchmarks()}});
}

std::string RunFileRecorder::check_line(std::size_t benchmark, int checked) const {
  return line({{"event", "check"},
               {"index", checked},
               {"total", selected_benchmarks()},
               {"benchmark", progress_[benchmark].head.name}});
}

std::string RunFileRecorder::progress_line(std::size_t benchmark) const {
  const BenchmarkProgress& progress = progress_[benchmark];
  int done = 0;
  for (const BenchmarkProgress& each : progress_) done += each.selected ? layouts_done(each) : 0;
  json event{{"event", "benchmark"},
             {"index", done},
             {"total", selected_benchmarks() * info_.protocol.layouts},
             {"benchmark", progress.head.name},
             {"finished", complete_benchmarks()},
             {"benchmarks", selected_benchmarks()}};
  if (!progress.failure.empty()) {
    event["failure"] = progress.failure;
  } else {
    event["time_ns"] = baselines::median(progress.times_ns);
    event["spread"] = baselines::median_absolute_deviation(progress.times_ns) /
                      baselines::median(progress.times_ns);
  }
  return line(event);
}

}  // namespace fusegate::bench

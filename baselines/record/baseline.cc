#include "baselines/record/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/file_mark.h"
#include "baselines/io/json_field.h"
#include "baselines/io/message_names.h"
#include "baselines/record/run_context.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kMark = "fusegate_baseline";

// A missing store is fine; one that cannot be read may have the file.
bool is_there(const fs::path& path) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) throw InputError(path.string(), "", "cannot be read: " + error.message());
  return exists;
}

// In a device's folder; "unnamed.json" without a suite.
std::string file_name(const std::string& suite) {
  const std::string name = slug(suite);
  return (name.empty() ? "unnamed" : name) + ".json";
}

std::string names_of_failed(const Run& run) {
  std::vector<std::string> names;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (!series.failure.empty()) names.push_back(series.name);
  }
  return first_of(names);
}

// Of several cards those with one process each, which cannot be compared with another of the card.
std::string lone_cards(const Run& run) {
  if (run.cards.size() < 2) return "";
  std::vector<std::string_view> lone;
  for (const auto& [card, processes] : processes_by_card(run)) {
    if (processes < 2) lone.push_back(run.cards.at(static_cast<std::size_t>(card)));
  }
  return fmt::format("{}", fmt::join(lone, ", "));
}

bool has_warning(const Run& run, Warning warning) {
  const auto in = [warning](const std::vector<Warning>& warnings) {
    return std::ranges::find(warnings, warning) != warnings.end();
  };
  return in(run.warnings) || std::ranges::any_of(run.benchmarks, in, &BenchmarkSeries::warnings);
}

void read_names(const JsonField& provenance, std::string_view name,
                std::vector<std::string>& names) {
  const auto list = provenance.find(name);
  if (!list) return;
  for (const JsonField& element : list->elements()) names.push_back(element.text());
}

// A list of the length of time_ns; empty where the entry has none.
std::vector<JsonField> list_beside_times(const JsonField& entry, std::string_view name,
                                         std::size_t count) {
  const auto list = entry.find(name);
  if (!list) return {};
  std::vector<JsonField> elements = list->elements();
  if (elements.size() != count) list->fail("must have as many elements as time_ns");
  return elements;
}

// Missing in older baselines: the fit then knows nothing.
ClockFit read_clock_fit(const JsonField& field) {
  const std::vector<JsonField> values = field.elements();
  if (values.size() != 4) field.fail("must have four numbers");
  return {.time_squares = values[0].number(),
          .clock_squares = values[1].number(),
          .products = values[2].number(),
          .degrees_of_freedom = values[3].number()};
}

// A process's card, where the baseline has several, or its own number.
int read_number(const JsonField& field, std::string_view names, std::size_t count) {
  const int number = field.integer();
  if (number < 0 || static_cast<std::size_t>(number) >= count) {
    field.fail(fmt::format("must be an index into provenance.{}, counted from 0", names));
  }
  return number;
}

// run: with its cards and processes.
void read_processes(const JsonField& entry, const Run& run, BenchmarkSeries& series) {
  ProcessSummary summary;
  // Published figures have neither; our baselines have both.
  if (const auto spread = entry.find("spread")) summary.spread = spread->number();
  if (const auto samples = entry.find("samples")) summary.samples = samples->integer();
  const auto times = entry.at("time_ns").elements();
  const auto cycles = list_beside_times(entry, "cycles", times.size());
  const auto fits = list_beside_times(entry, "clock_fit", times.size());
  const auto hosts = list_beside_times(entry, kHostNs, times.size());
  const auto host_graphs = list_beside_times(entry, kHostGraphNs, times.size());
  const auto cards = list_beside_times(entry, "cards", times.size());
  const auto processes = list_beside_times(entry, "processes", times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    summary.time_ns = times[i].positive_number();
    summary.cycles =
        cycles.empty() ? std::numeric_limits<double>::quiet_NaN() : cycles[i].positive_number();
    if (!fits.empty()) summary.clock_fit = read_clock_fit(fits[i]);
    if (!hosts.empty()) summary.host_ns = hosts[i].positive_number();
    if (!host_graphs.empty()) summary.host_graph_ns = host_graphs[i].positive_number();
    if (!cards.empty()) summary.card = read_number(cards[i], "cards", run.cards.size());
    if (!processes.empty()) {
      summary.process = read_number(processes[i], "processes", run.process_names.size());
    }
    series.processes.push_back(summary);
  }
  if (times.empty() && series.failure.empty()) entry.at("time_ns").fail("must not be empty");
}

BenchmarkSeries read_series(const JsonField& entry, const Run& run) {
  BenchmarkSeries series;
  series.name = entry.at("name").text();
  series.failure = entry.text_or_empty("failure");
  read_processes(entry, run, series);
  if (const auto counters = entry.find("counters")) {
    for (const auto& [name, value] : counters->members()) {
      series.counters.emplace(name, value.number());
    }
  }
  if (const auto choices = entry.find("choices")) {
    for (const auto& [name, value] : choices->members()) series.choices.emplace(name, value.text());
  }
  series.warnings = read_warnings(entry);
  // Missing in older baselines, and where nothing was profiled.
  if (const auto profile = entry.find("profile")) series.profile = read_stored_profile(*profile);
  if (const auto identity = entry.find("identity")) series.identity = parse_identity(*identity);
  return series;
}

void read_benchmarks(const JsonField& field, Run& run) {
  for (const JsonField& entry : field.elements()) {
    run.benchmarks.push_back(read_series(entry, run));
  }
  if (run.process_names.empty()) number_processes(run);
  std::ranges::sort(run.benchmarks, {}, &BenchmarkSeries::name);
  const auto twice = std::ranges::adjacent_find(run.benchmarks, {}, &BenchmarkSeries::name);
  if (twice != run.benchmarks.end()) {
    field.fail(fmt::format("\"{}\" occurs twice", twice->name));
  }
}

void check_version(const JsonField& version) {
  if (version.integer() > kBaselineSchemaVersion) {
    version.fail(fmt::format("version {} is newer than this fusegate reads ({}); update fusegate",
                             version.integer(), kBaselineSchemaVersion));
  }
}

}  // namespace

std::vector<std::string> reasons_not_to_accept(const Run& run) {
  std::vector<std::string> reasons;
  if (const std::string failed = names_of_failed(run); !failed.empty()) {
    reasons.push_back("benchmarks failed: " + failed);
  }
  if (has_warning(run, Warning::kThrottled))
    reasons.push_back("the GPU was throttled during the run");
  if (has_warning(run, Warning::kOtherGpuProcess)) {
    reasons.push_back("another process used the GPU during the run");
  }
  if (run.provenance.dirty || has_warning(run, Warning::kDirtyTree)) {
    reasons.push_back("the measured tree had uncommitted changes");
  }
  const auto unmet = std::ranges::find_if(run.benchmarks, [](const BenchmarkSeries& series) {
    return series.expectation && !series.expectation->met();
  });
  if (unmet != run.benchmarks.end()) {
    reasons.push_back("a benchmark launches other kernels than it declares: " + unmet->name);
  }
  for (const std::string& text : unfinished_texts(run)) reasons.push_back(text);
  if (const std::string left_out = left_out_text(run); !left_out.empty()) {
    reasons.push_back(left_out);
  }
  if (const std::string unmeasured = unmeasured_text(run); !unmeasured.empty()) {
    reasons.push_back(unmeasured);
  }
  if (const std::string lone = lone_cards(run); !lone.empty()) {
    reasons.push_back(lone + " measured once only; measure at least two processes per card");
  }
  const bool single = std::ranges::any_of(run.benchmarks, [](const BenchmarkSeries& series) {
    return series.processes.size() == 1 && series.failure.empty();
  });
  if (single || run.benchmarks.empty()) {
    reasons.push_back(
        "fewer than two processes, so the spread between processes is unknown; measure at least "
        "two");
  }
  return reasons;
}

bool is_baseline_text(std::string_view text) { return has_mark(text, kMark); }

Baseline parse_baseline(std::string_view text, const std::string& source) {
  const json root = parse_json(text, source);
  const JsonField field(root, source, "");
  check_version(field.at(kMark));
  Baseline baseline;
  baseline.run.source = source;
  const JsonField acceptance = field.at("acceptance");
  baseline.acceptance = {acceptance.text_or_empty("who"), acceptance.text_or_empty("when"),
                         acceptance.text_or_empty("reason")};
  if (const auto published = field.find("published")) baseline.published = published->boolean();
  if (const auto provenance = field.find("provenance")) {
    read_provenance(*provenance, baseline.run.provenance);
    read_names(*provenance, "cards", baseline.run.cards);
    read_names(*provenance, "processes", baseline.run.process_names);
  }
  if (baseline.run.cards.empty()) baseline.run.cards = cards_of(baseline.run);
  baseline.run.environment = read_environment(field.at("environment"));
  baseline.run.warnings = read_warnings(field);
  if (const auto left_out = field.find("left_out")) {
    for (const auto& [name, why] : left_out->members()) baseline.run.left_out[name] = why.text();
  }
  read_benchmarks(field.at("benchmarks"), baseline.run);
  const DeclaredControls controls = read_controls(field);
  baseline.run.compared_with = read_compared_with(field);
  baseline.run.across_ranks = read_across_ranks(field);
  for (BenchmarkSeries& series : baseline.run.benchmarks) {
    series.is_control = is_control(controls, baseline.run.provenance, series.name);
  }
  return baseline;
}

void require_unpublished(const Baseline& baseline) {
  if (!baseline.published) return;
  throw InputError(baseline.run.source, "published",
                   "figures from a publication are shown and never gated against");
}

LoadedBaseline load_stored_baseline(const fs::path& path) {
  const std::string text = read_file(path);
  return judging_baseline(parse_baseline(text, path.string()), text, path);
}

LoadedBaseline judging_baseline(Baseline baseline, const std::string& text, const fs::path& path) {
  require_unpublished(baseline);
  LoadedBaseline loaded{std::move(baseline.run), std::move(baseline.acceptance), std::nullopt};
  const fs::path anchor = anchor_path(path);
  std::error_code error;
  if (!fs::exists(anchor, error)) return loaded;
  const std::string anchor_text = read_regular_file(anchor);
  if (anchor_text == text) return loaded;
  loaded.anchor = parse_baseline(anchor_text, anchor.string());
  require_unpublished(*loaded.anchor);
  return loaded;
}

Baseline read_baseline(const fs::path& path) {
  return parse_baseline(read_file(path), path.string());
}

fs::path baseline_path(const fs::path& store, const Environment& environment,
                       const std::string& suite) {
  return store / device_slug(environment) / file_name(suite);
}

std::vector<fs::path> baselines_of_suite(const std::vector<fs::path>& stores,
                                         const std::string& suite) {
  std::vector<fs::path> found;
  for (const fs::path& store : stores) {
    if (!is_there(store)) continue;
    std::error_code error;
    std::set<fs::path> of_store;
    for (const auto& device : fs::directory_iterator(store, error)) {
      const fs::path path = device.path() / file_name(suite);
      if (is_there(path)) of_store.insert(path);
    }
    if (error) throw InputError(store.string(), "", "cannot read the folder: " + error.message());
    found.insert(found.end(), of_store.begin(), of_store.end());
  }
  return found;
}

fs::path anchor_path(const fs::path& baseline) {
  fs::path path = baseline;
  return path.replace_extension(".anchor.json");
}

std::optional<fs::path> find_baseline(const std::vector<fs::path>& stores,
                                      const Environment& environment, const std::string& suite) {
  for (const fs::path& store : stores) {
    const fs::path path = baseline_path(store, environment, suite);
    if (is_there(path)) return path;
  }
  return std::nullopt;
}

}  // namespace fusegate::baselines

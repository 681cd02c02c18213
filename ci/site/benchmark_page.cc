#include "ci/site/benchmark_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_text.h"
#include "ci/site/site_texts.h"
#include "ci/sweep/bottleneck.h"
#include "ci/sweep/stages_section.h"

namespace fusegate::ci {
namespace {

using baselines::ChangePoint;
using baselines::Night;
using baselines::NightBenchmark;
using baselines::VerdictKind;

// Of the latest alone: kernels of a benchmark whose code changes every night would fill the page.
constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kShownOfHash = 8;

const auto* named(const auto& list, const std::string& name, auto member) {
  const auto found = std::ranges::find(list, name, member);
  return found == list.end() ? nullptr : &*found;
}

Tone tone_of(std::string_view verdict) {
  if (verdict == "regression" || verdict == "invalid") return Tone::kBad;
  if (verdict == "improvement") return Tone::kGood;
  return verdict == "missing" || verdict == "inconclusive" ? Tone::kUnsure : Tone::kPlain;
}

// The last one's word, as many may concern a benchmark.
std::string verdict_of_nights(const Site& site, const Series& series) {
  if (series.last() == nullptr) return "missing";
  const auto first = std::ranges::find_if(series.nights, [](const auto* one) { return one; });
  if (first + 1 == series.nights.end() && series.nights.size() > 1) return "new";
  std::string verdict;
  for (const ChangePoint& change : site.changes) {
    if (change.alarm_session != site.nights.back().session || !concerns(change, series.name))
      continue;
    verdict = change.effect > 0 ? "regression" : "improvement";
  }
  return verdict;
}

std::vector<ChangePoint> changes_of(const Site& site, const std::string& name) {
  std::vector<ChangePoint> own;
  std::ranges::copy_if(site.changes, std::back_inserter(own),
                       [&](const ChangePoint& change) { return concerns(change, name); });
  return own;
}

HistoryPicture history_picture(const Site& site, const Series& series, int strip_height) {
  Curve curve = curve_of(series, site.nights);
  HistoryPicture picture{
      .caption = curve.is_over_replay
                     ? "Against the replay measured beside it; 0 is the first week's median. The "
                       "line breaks where another program was replayed."
                     : "Time at equal clock; 0 is the first week's median.",
      .values = std::move(curve.values),
      .is_break = std::move(curve.is_break),
      .strip = "../nights.svg",
      .strip_names = "../names.svg",
      .strip_height = strip_height};
  std::vector<std::string> texts;
  for (const ChangePoint& change : site.changes) {
    const auto night = night_of_session(site.nights, change.first_session);
    if (!night || !(concerns(change, series.name) || is_of_all(change))) continue;
    texts.push_back(fmt::format("{}: {}, {}, {}", night_date(site.nights[*night]),
                                format_effect(change.effect),
                                baselines::change_class_name(change.of_class), change.reason));
    picture.marks.push_back({*night, texts.back(), change.effect > 0});
  }
  picture.description =
      fmt::format("{} nights, {}", site.nights.size(), format_count(texts.size(), "change point"));
  return picture;
}

Section history_section(const Site& site, const Series& series, int strip_height) {
  Section section{.title = "History",
                  .table = changes_table(changes_of(site, series.name), site.nights, "../"),
                  .pictures = {history_picture(site, series, strip_height)}};
  return section;
}

// From which night to which each was launched, and with which code.
struct KernelNights {
  std::vector<std::pair<std::size_t, std::size_t>> spans;  // of one code each
  std::string code;                                        // of the last
  std::size_t versions = 0;
};

std::map<std::string, KernelNights> kernels_of(const Series& series) {
  std::map<std::string, KernelNights> kernels;
  for (std::size_t i = 0; i < series.nights.size(); ++i) {
    if (series.nights[i] == nullptr) continue;
    for (const std::string& kernel : series.nights[i]->kernels) {
      const std::size_t bar = kernel.rfind('|');
      const std::string code = bar == kernel.npos ? "" : kernel.substr(bar + 1);
      KernelNights& own = kernels[kernel.substr(0, bar)];
      if (!own.spans.empty() && own.spans.back().second == i) continue;  // launched twice
      const bool is_new = own.spans.empty() || own.code != code;
      own.versions += is_new;
      own.code = code;
      if (is_new || own.spans.back().second + 1 < i) {
        own.spans.emplace_back(i, i);
      } else {
        own.spans.back().second = i;
      }
    }
  }
  return kernels;
}

std::string kernel_nights_text(const KernelNights& kernel, const std::vector<Night>& nights) {
  const std::string code = kernel.code.substr(0, kShownOfHash);
  const std::string since = night_date(nights[kernel.spans.back().first]);
  const std::string until = night_date(nights[kernel.spans.back().second]);
  if (kernel.versions == 1) {
    return fmt::format("code {}, {} to {}", code, night_date(nights[kernel.spans.front().first]),
                       until);
  }
  return fmt::format("{} versions of its code, the last {}, {} to {}", kernel.versions, code, since,
                     until);
}

std::string shown_kernel(const std::string& name) {
  baselines::ProfiledKernel kernel;
  kernel.name = name;
  return short_name(kernel);
}

Section kernels_section(const Site& site, const Series& series) {
  TimelinePicture picture{.caption =
                              "Launched from which night to which; a change of colour is a "
                              "change of its code.",
                          .nights = site.nights.size()};
  for (auto& [name, kernel] : kernels_of(series)) {
    picture.rows.push_back(
        {shown_kernel(name), kernel_nights_text(kernel, site.nights), std::move(kernel.spans)});
  }
  std::ranges::stable_sort(picture.rows, [](const auto& a, const auto& b) {
    return a.spans.back().second > b.spans.back().second;
  });
  if (picture.rows.empty()) return {};
  Section section{.title = "Kernels"};
  if (picture.rows.size() > kMostKernels) {
    section.sentences = {
        fmt::format("{} older kernels are not shown.", picture.rows.size() - kMostKernels)};
    picture.rows.resize(kMostKernels);
  }
  section.pictures = {std::move(picture)};
  return section;
}

void add_processes(const baselines::BenchmarkSeries* series, bool is_baseline,
                   StripPicture* strip) {
  if (series == nullptr) return;
  for (std::size_t i = 0; i < series->processes.size(); ++i) {
    const baselines::ProcessSummary& process = series->processes[i];
    if (!std::isfinite(process.time_ns)) continue;
    strip->rows.push_back({fmt::format("{} {}", is_baseline ? "base" : "run", i + 1), is_baseline,
                           process.time_ns, process.spread * process.time_ns});
  }
}

Section processes_section(const BenchmarkOfRun& of_run) {
  StripPicture strip{.caption =
                         "Time of each process of the last night: the mean of its samples' "
                         "fast half; the line is as long as their median deviation to each "
                         "side. Grey: the baseline."};
  add_processes(of_run.candidate, false, &strip);
  add_processes(of_run.baseline, true, &strip);
  if (strip.rows.empty()) return {};
  double low = INFINITY, high = 0;
  for (const StripPicture::Row& row : strip.rows) {
    low = std::min(low, row.value - row.spread);
    high = std::max(high, row.value + row.spread);
  }
  strip.low = format_time_ns(low);
  strip.high = format_time_ns(high);
  strip.description =
      fmt::format("{} processes, {} to {}", strip.rows.size(), strip.low, strip.high);
  return {.title = "Processes", .pictures = {std::move(strip)}};
}

// The bars alone; the run's report has the table.
Section stages_of(const BenchmarkOfRun& of_run) {
  if (of_run.candidate == nullptr || !of_run.candidate->stage_times) return {};
  baselines::Run one;
  one.benchmarks = {*of_run.candidate};
  one.benchmarks.front().name.clear();  // the page's title has it
  const Section launches = launches_section(one);
  return {.title = "Stages", .pictures = launches.parts.at(0).pictures};
}

// The latest change that has commits on both sides.
std::string bisect_command(const Site& site, const Series& series) {
  std::string command;
  for (const ChangePoint& change : changes_of(site, series.name)) {
    const auto before = night_of_session(site.nights, change.last_session_before);
    const auto after = night_of_session(site.nights, change.first_session);
    if (!before || !after) continue;
    const std::string &good = site.nights[*before].commit, &bad = site.nights[*after].commit;
    if (good.empty() || bad.empty() || good == bad) continue;
    command = fmt::format("fusegate bisect --good {} --bad {} --benchmark {}", shell_word(good),
                          shell_word(bad), shell_word(series.name));
  }
  return command;
}

Section reproduce_section(const Site& site, const Series& series) {
  const Night& night = site.nights.back();
  Section section{.title = "Reproduce it"};
  if (!night.commit.empty()) section.commands.push_back("git checkout " + shell_word(night.commit));
  std::string filter = "^";
  for (const char c : series.name) {
    if (std::string_view("\\.+*?()[]{}|^$").find(c) != std::string_view::npos) filter += '\\';
    filter += c;
  }
  section.commands.push_back(fmt::format("fusegate run --suite {} --all --out runs/here -- {}",
                                         shell_word(night.suite),
                                         shell_word("--benchmark_filter=" + filter + "$")));
  section.commands.push_back("fusegate history show " + shell_word(series.name));
  const std::string bisect = bisect_command(site, series);
  if (!bisect.empty()) section.commands.push_back(bisect);
  return section;
}

std::string roofline_text(const BenchmarkOfRun& of_run, const MeasuredRates& rates) {
  const BenchmarkFigures figures = benchmark_figures(*of_run.candidate);
  const RooflineTime roofline = roofline_time_of(figures, rates);
  if (!std::isfinite(roofline.gap)) return "";
  return fmt::format("gap {} over {}; {}", format_rate(roofline.gap), format_time_ns(roofline.ns),
                     bottlenecks_text(bottlenecks_of(figures, roofline, rates)));
}

void add_fact(const char* label, const std::string& text, Document* document) {
  if (!text.empty()) document->facts.push_back({label, text});
}

void add_facts(const Site& site, const Series& series, const BenchmarkOfRun& of_run,
               const MeasuredRates* rates, Document* document) {
  add_fact("time", format_time_ns(series.latest(&NightBenchmark::ns)), document);
  const double energy_j = series.latest(&NightBenchmark::energy_j);
  if (std::isfinite(energy_j)) add_fact("energy", format_energy_j(energy_j), document);
  const double host_ns = series.latest(&NightBenchmark::host_ns);
  if (std::isfinite(host_ns)) add_fact("host", format_time_ns(host_ns), document);
  if (series.last() != nullptr) add_fact("identity", series.last()->identity, document);
  const auto owner = site.owners.find(series.name);
  if (owner != site.owners.end()) add_fact("owner", owner->second, document);
  if (of_run.candidate != nullptr && rates != nullptr) {
    add_fact("roofline", roofline_text(of_run, *rates), document);
  }
  if (of_run.diff != nullptr) add_fact("kernels", kernel_diff_text(*of_run.diff), document);
}

std::string headline_of(const Site& site, const Series& series, const BenchmarkOfRun& of_run) {
  if (of_run.verdict != nullptr && site.report) {
    return reason_text(*of_run.verdict, site.report->gate.options.rule) + ".";
  }
  if (series.last() == nullptr) {
    const auto found = std::ranges::find_if(series.nights.rbegin(), series.nights.rend(),
                                            [](const auto* one) { return one != nullptr; });
    const auto nights_since = static_cast<std::size_t>(found - series.nights.rbegin());
    const Night& night = site.nights[site.nights.size() - 1 - nights_since];
    return "Last measured " + night_date(night) + ".";
  }
  const Movement last = last_movement(series, site.nights);
  if (!std::isfinite(series.last()->ns)) return "Not measured in the last night.";
  if (!std::isfinite(last.effect)) return "There is no other night yet.";
  return fmt::format("The last night: {} against {}.", format_effect(last.effect), last.against);
}

}  // namespace

BenchmarkOfRun benchmark_of_run(const Site& site, const std::string& name) {
  if (!site.report) return {};
  const GateFacts& gate = site.report->gate;
  BenchmarkOfRun of_run{
      .candidate = named(gate.candidate.benchmarks, name, &baselines::BenchmarkSeries::name),
      .verdict = named(gate.result.verdicts, name, &baselines::Verdict::benchmark),
      .diff = named(gate.result.kernel_diffs, name, &baselines::KernelDiff::benchmark)};
  if (gate.baseline) {
    of_run.baseline = named(gate.baseline->run.benchmarks, name, &baselines::BenchmarkSeries::name);
  }
  return of_run;
}

Cell verdict_cell(const Site& site, const Series& series, const BenchmarkOfRun& of_run) {
  const std::string verdict = of_run.verdict != nullptr
                                  ? std::string(baselines::verdict_name(of_run.verdict->kind))
                                  : verdict_of_nights(site, series);
  return {verdict, tone_of(verdict)};
}

Movement movement_of(const Site& site, const Series& series, const BenchmarkOfRun& of_run) {
  if (of_run.verdict == nullptr) return last_movement(series, site.nights);
  const baselines::Estimates& estimates = of_run.verdict->estimates;
  return {.effect = estimates.effect,
          .low = estimates.interval.low,
          .high = estimates.interval.high,
          .ruled_out = estimates.ruled_out,
          .against = "the baseline"};
}

Document benchmark_document(const Site& site, const Series& series, const MeasuredRates* rates,
                            int strip_height) {
  const BenchmarkOfRun of_run = benchmark_of_run(site, series.name);
  Document document{.title = series.name,
                    .outcome = verdict_cell(site, series, of_run).text,
                    .headline = headline_of(site, series, of_run)};
  add_facts(site, series, of_run, rates, &document);
  document.sections = {history_section(site, series, strip_height), processes_section(of_run),
                       stages_of(of_run), kernels_section(site, series),
                       reproduce_section(site, series)};
  return document;
}

}  // namespace fusegate::ci

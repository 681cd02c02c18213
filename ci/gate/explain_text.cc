#include "ci/gate/explain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "baselines/io/printable.h"
#include "baselines/launches/kernel_name_reader.h"
#include "ci/console/format.h"
#include "ci/document/document.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

double clock_hz(const baselines::BenchmarkSeries* series) {
  if (!series || !series->counters.contains("sm_clock_hz")) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return series->counters.at("sm_clock_hz");
}

// "clock      1.980 GHz -> 1.750 GHz, -11.62 %"; nothing where a side has none.
void add_figure(const char* what, double before, double after, auto format,
                std::vector<Fact>* facts) {
  if (!std::isfinite(before) || !std::isfinite(after)) return;
  facts->push_back({what, fmt::format("{} -> {}, {}", format(before), format(after),
                                      format_effect(after / before - 1))});
}

std::vector<Fact> figures(const baselines::BenchmarkSeries* baseline,
                          const baselines::BenchmarkSeries* candidate,
                          const baselines::Verdict& verdict, const baselines::KernelDiff& diff) {
  std::vector<Fact> facts;
  add_figure("time", verdict.baseline.time_ns, verdict.candidate.time_ns, format_time_ns, &facts);
  if (std::isfinite(verdict.estimates.effect)) {
    facts.push_back({"effect", fmt::format("{}, {}", format_effect(verdict.estimates.effect),
                                           format_interval(verdict.estimates.interval))});
  }
  const auto format_clock = [](double hz) { return fmt::format("{:.3f} GHz", hz / 1e9); };
  add_figure("clock", clock_hz(baseline), clock_hz(candidate), format_clock, &facts);
  add_figure("energy", verdict.baseline.energy_j, verdict.candidate.energy_j, format_energy_j,
             &facts);
  add_figure("host", diff.host_ns.before, diff.host_ns.after, format_time_ns, &facts);
  return facts;
}

// A row a kernel; shares are of the sum of all rows' changes.
class KernelTable {
 public:
  explicit KernelTable(const baselines::KernelDiff& diff) : diff_(diff) {
    for (const baselines::KernelPair& pair : diff.pairs) total_ns_ += pair.change_ns();
    total_ns_ += diff.memory_ns.change() + diff.gaps_ns.change();
  }

  Table table() && {
    for (const baselines::KernelPair& pair : diff_.pairs) add(pair);
    if (diff_.memory_operations.before > 0 || diff_.memory_operations.after > 0) {
      add_row("",
              fmt::format("memory operations, {} -> {}",
                          format_launches(diff_.memory_operations.before),
                          format_launches(diff_.memory_operations.after)),
              diff_.memory_ns, "");
    }
    add_row("", "between kernels", diff_.gaps_ns, "");
    return std::move(table_);
  }

 private:
  void add(const baselines::KernelPair& pair) {
    const baselines::ProfiledKernel& kernel = pair.after ? *pair.after : *pair.before;
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    add_row(kernel.stage, short_name(kernel),
            {pair.before ? pair.before->duration_ns : nothing,
             pair.after ? pair.after->duration_ns : nothing},
            what_of(pair));
  }

  static std::string what_of(const baselines::KernelPair& pair) {
    if (!pair.before) return std::string("new");
    if (!pair.after) return std::string("gone");
    return fmt::format("{}", fmt::join(pair.differences, ", "));
  }

  void add_row(const std::string& stage, const std::string& name,
               const baselines::BeforeAfter& time_ns, const std::string& what) {
    const double before = std::isfinite(time_ns.before) ? time_ns.before : 0;
    const double after = std::isfinite(time_ns.after) ? time_ns.after : 0;
    const bool has_share = diff_.kind != baselines::KernelCause::kNothing && total_ns_ != 0;
    table_.add_row({stage, name, format_time_ns(time_ns.before), format_time_ns(time_ns.after),
                    format_time_change_ns(after - before),
                    has_share ? format_share((after - before) / total_ns_) : "-", what});
  }

  const baselines::KernelDiff& diff_;
  double total_ns_ = 0;
  Table table_{{{"stage"},
                {"kernel"},
                {"baseline", Align::kRight},
                {"candidate", Align::kRight},
                {"change", Align::kRight},
                {"share", Align::kRight},
                {"what"}}};
};

void add_agreement(const baselines::BenchmarkSeries* series, std::string_view side,
                   std::vector<std::string>* sentences) {
  if (!series || !series->profile) return;
  const baselines::KernelProfile& profile = *series->profile;
  if (static_cast<int>(profile.gaps_ns.size()) == profile.processes) return;
  sentences->push_back(
      fmt::format("{} of the {}'s {} profiled processes launched these kernels, the others did not",
                  profile.gaps_ns.size(), side, profile.processes));
}

void add_work(const baselines::BenchmarkSeries* series, std::string_view side,
              std::vector<std::string>* sentences) {
  if (!series || !series->identity || series->identity->unknown.empty()) return;
  sentences->push_back(fmt::format("whether the {}'s code is identical is unknown: {}", side,
                                   series->identity->unknown));
}

std::string conclusion(const baselines::Verdict& verdict, const baselines::KernelDiff& diff) {
  if (std::string text = kernel_diff_text(diff); !text.empty()) return text;
  if (diff.work_changed()) {
    const bool is_unchanged = verdict.kind == baselines::VerdictKind::kUnchanged;
    return work_text(diff) + (is_unchanged ? "; time is unchanged" : "; no certain change");
  }
  if (!diff.has_profiles) return "a side has no profile, so what it launches is unknown";
  if (verdict.kind == baselines::VerdictKind::kIdentical) return "identical code on both sides";
  if (verdict.kind != baselines::VerdictKind::kUnchanged)
    return "the same kernels, and no certain change";
  return "nothing changed: the same kernels in the same time";
}

}  // namespace

std::string explain_text(const baselines::BenchmarkSeries* baseline,
                         const baselines::BenchmarkSeries* candidate,
                         const baselines::Verdict& verdict, const baselines::Rule& rule,
                         const baselines::KernelDiff& diff, const TextStyle& style) {
  const std::string_view kind = baselines::verdict_name(verdict.kind);
  Section kernels;
  add_agreement(baseline, "baseline", &kernels.sentences);
  add_agreement(candidate, "candidate", &kernels.sentences);
  add_work(baseline, "baseline", &kernels.sentences);
  add_work(candidate, "candidate", &kernels.sentences);
  for (std::string& text : work_texts(diff)) kernels.sentences.push_back(std::move(text));
  if (diff.has_profiles) kernels.table = KernelTable(diff).table();
  const Document document{.headline = fmt::format("{}: {}", kind, reason_text(verdict, rule)),
                          .facts = figures(baseline, candidate, verdict, diff),
                          .summary = fmt::format("{}: {}.", kind, conclusion(verdict, diff)),
                          .sections = {std::move(kernels)}};
  return baselines::printable(verdict.benchmark) + '\n' + terminal_text(document, style);
}

}  // namespace fusegate::ci

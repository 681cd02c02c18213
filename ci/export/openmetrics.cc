#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "baselines/io/printable.h"
#include "ci/export/formats.h"

namespace fusegate::ci {
namespace {

using baselines::Night;

// One metric family. unit: the end of its name; empty where it has none.
struct Family {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  double (*value)(const ExportedTime& time);
};

constexpr std::array<Family, 6> kFamilies{
    {{"fusegate_time_seconds", "seconds", "Time of one call, median over processes",
      [](const ExportedTime& time) { return time.ns / 1e9; }},
     {"fusegate_time_lower_seconds", "seconds",
      "Lower end of the 95 % confidence interval of the time, by the spread between processes",
      [](const ExportedTime& time) { return time.interval_ns.low / 1e9; }},
     {"fusegate_time_upper_seconds", "seconds",
      "Upper end of the 95 % confidence interval of the time, by the spread between processes",
      [](const ExportedTime& time) { return time.interval_ns.high / 1e9; }},
     {"fusegate_host_time_seconds", "seconds", "What one call costs the host",
      [](const ExportedTime& time) { return time.benchmark.host_ns / 1e9; }},
     {"fusegate_energy_joules", "joules", "Energy of one call",
      [](const ExportedTime& time) { return time.benchmark.energy_j; }},
     {"fusegate_processes", "", "Processes that measured it",
      [](const ExportedTime& time) { return static_cast<double>(time.benchmark.processes); }}}};

using Labels = std::vector<std::pair<std::string_view, const std::string*>>;

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (value->empty()) continue;
    text += fmt::format("{}{}=\"", text.empty() ? "{" : ",", name);
    for (const char c : baselines::printable(*value)) {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text.empty() ? text : text + '}';
}

// Of each metric its points in the order of time, which is what the format asks for; of two of one
// second the last.
using Metrics = std::map<std::string, std::map<std::int64_t, double>>;

void write_family(std::string_view name, std::string_view type, std::string_view unit,
                  std::string_view help, const Metrics& metrics, std::string& text) {
  if (metrics.empty()) return;
  text += fmt::format("# TYPE {} {}\n", name, type);
  if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
  text += fmt::format("# HELP {} {}\n", name, help);
  for (const auto& [labels, points] : metrics) {
    for (const auto& [unix_s, value] : points) {
      text +=
          fmt::format("{}{}{} {} {}\n", name, type == "info" ? "_info" : "", labels, value, unix_s);
    }
  }
}

Metrics metrics_of(ExportedNights nights, const Family& family) {
  Metrics metrics;
  for (const Night& night : nights) {
    for (const ExportedTime& time : exported_times(night)) {
      const double value = family.value(time);
      if (!std::isfinite(value)) continue;
      const std::string labels = labels_text({{"benchmark", &time.benchmark.name},
                                              {"suite", &night.suite},
                                              {"device", &night.device},
                                              {"card", &night.card},
                                              {"machine", &night.machine}});
      metrics[labels][night.unix_s] = value;
    }
  }
  return metrics;
}

}  // namespace

std::string openmetrics_text(ExportedNights nights) {
  std::string text;
  for (const Family& family : kFamilies) {
    write_family(family.name, "gauge", family.unit, family.help, metrics_of(nights, family), text);
  }
  Metrics runs;
  for (const Night& night : nights) {
    const std::string labels = labels_text({{"session", &night.session},
                                            {"commit", &night.commit},
                                            {"suite", &night.suite},
                                            {"device", &night.device},
                                            {"card", &night.card},
                                            {"machine", &night.machine},
                                            {"driver", &night.driver},
                                            {"cuda", &night.cuda},
                                            {"cublas", &night.cublas}});
    runs[labels][night.unix_s] = 1;
  }
  write_family("fusegate_run", "info", "", "What was measured, and by what", runs, text);
  return text + "# EOF\n";
}

}  // namespace fusegate::ci

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "ci/export/formats.h"

namespace fusegate::ci {
namespace {

using baselines::Night;
using nlohmann::json;

using NamedTexts = std::initializer_list<std::pair<const char*, std::string Night::*>>;

json known_texts(const Night& night, NamedTexts members) {
  json object = json::object();
  for (const auto& [name, member] : members) {
    if (!(night.*member).empty()) object[name] = night.*member;
  }
  return object;
}

std::string text_of(const json& value) {
  return value.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string lnt_text(ExportedNights nights) {
  const Night& night = nights.back();
  json machine = known_texts(night, {{"device", &Night::device},
                                     {"card", &Night::card},
                                     {"driver", &Night::driver},
                                     {"cuda", &Night::cuda},
                                     {"cublas", &Night::cublas}});
  machine["name"] = night.machine.empty() ? night.device : night.machine;
  json run = known_texts(
      night, {{"commit", &Night::commit}, {"suite", &Night::suite}, {"session", &Night::session}});
  run["start_time"] = run["end_time"] = exported_date(night, "{:%Y-%m-%dT%H:%M:%S}");
  // By it LNT orders runs, as a number.
  run["llvm_project_revision"] = exported_date(night, "{:%Y%m%d%H%M%S}");
  json tests = json::array();
  for (const auto& [benchmark, ns, interval_ns] : exported_times(night)) {
    tests.push_back({{"name", benchmark.name}, {"execution_time", ns / 1e9}});
    if (!benchmark.identity.empty()) tests.back()["hash"] = benchmark.identity;
  }
  return text_of({{"format_version", "2"}, {"machine", machine}, {"run", run}, {"tests", tests}});
}

std::string bencher_text(ExportedNights nights) {
  json results = json::object();
  for (const auto& [benchmark, ns, interval_ns] : exported_times(nights.back())) {
    json& latency = results[benchmark.name]["latency"];  // Bencher's own measure, in ns
    latency["value"] = ns;
    if (std::isnan(interval_ns.low)) continue;
    latency["lower_value"] = interval_ns.low;
    latency["upper_value"] = interval_ns.high;
  }
  return text_of(results);
}

std::string github_action_benchmark_text(ExportedNights nights) {
  const Night& night = nights.back();
  json results = json::array();
  for (const auto& [benchmark, ns, interval_ns] : exported_times(night)) {
    json result{{"name", benchmark.name}, {"unit", "ns"}, {"value", ns}};
    if (std::isfinite(interval_ns.low)) {
      result["range"] = fmt::format("± {:.3g}", (interval_ns.high - interval_ns.low) / 2);
    }
    result["extra"] = fmt::format("processes: {}", benchmark.processes);
    for (const auto& [name, text] :
         {std::pair("device", &night.device), std::pair("driver", &night.driver),
          std::pair("commit", &night.commit)}) {
      if (!text->empty()) {
        result["extra"] =
            fmt::format("{}\n{}: {}", result["extra"].get<std::string>(), name, *text);
      }
    }
    results.push_back(std::move(result));
  }
  return text_of(results);
}

}  // namespace fusegate::ci

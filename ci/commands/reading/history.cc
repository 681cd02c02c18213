#include "baselines/history/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <utility>

#include "baselines/changes/judge_history.h"
#include "baselines/history/change_id.h"
#include "baselines/io/error.h"
#include "baselines/io/message_names.h"
#include "baselines/io/write_lock.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/report/history_table.h"
#include "ci/run/night_source.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::DatabaseUse;
using baselines::History;
using baselines::InputError;
using baselines::Night;

// Adding a night takes a second.
constexpr std::chrono::seconds kLongestAdding(60);

void print_added(const Night& night, const std::vector<Night>& earlier, Console& console) {
  const auto measured = std::ranges::count_if(
      night.benchmarks, [](const auto& benchmark) { return benchmark.processes > 0; });
  console.out.print("added {}: {}, {} measured{}\n", night.session,
                    format_count(night.benchmarks.size(), "benchmark"), measured,
                    night.replayed.empty() ? "" : ", with a replay");
  if (night.commit.empty()) {
    console.out.print("note: {} names no commit; a change that it shows has none\n", night.session);
  }
  if (const Night* later = measured_before(night, earlier)) {
    console.out.print(
        "note: {} was measured before {}, which was added earlier; nights stay in the order in "
        "which they are added (was a clock set back?)\n",
        night.session, later->session);
  }
}

// What the nights show by now: change points that are new, and what is missing.
void judge(History& history, Console& console) {
  const baselines::JudgedHistory judged =
      baselines::judge_history(history, static_cast<std::int64_t>(std::time(nullptr)));
  for (const baselines::ChangePoint& point : judged.fresh) {
    console.out.print("change {}: {} by {} {} since {}, {}{}{}\n", baselines::change_id(point),
                      point.subject, format_effect(point.effect),
                      format_interval({point.low, point.high}), point.first_session,
                      baselines::change_class_name(point.of_class),
                      point.reason.empty() ? "" : ": ", point.reason);
  }
  for (const baselines::MissingData& missing : judged.missing) {
    console.out.print("missing: {}\n", missing.text);
  }
}

// One at a time, so that a device's first night is the one that sets its clocks.
void add_sources(const HistoryRequest& request, std::vector<NightSource> sources,
                 Console& console) {
  const auto lock = baselines::WriteLock::of_file(request.database, kLongestAdding);
  History history(request.database, DatabaseUse::kWrite);
  std::vector<Night> earlier = history.nights();
  bool any = false;
  for (NightSource& source : sources) {
    Night night = std::exchange(source.night, {})(&history);
    if (history.add(night)) {
      any = true;
      print_added(night, earlier, console);
      if (!source.settings.empty()) history.set_settings(source.settings);
      if (source.dirty) {
        console.out.print("note: {} has uncommitted changes, which its commit does not name\n",
                          night.session);
      }
    } else {
      console.out.print("{}: {} is there already\n", source.source, night.session);
    }
    night.benchmarks.clear();
    earlier.push_back(std::move(night));
  }
  if (any) judge(history, console);
}

// In the order in which they were measured.
void add_nights(const HistoryRequest& request, Console& console) {
  std::vector<NightSource> sources;
  for (const fs::path path : request.names) {
    NightSources read = read_nights(path, request.checkout);
    if (!read.passed_over.empty()) {
      if (request.action == "add") {
        throw InputError(path.string(), "", "is " + read.passed_over + ", and no night");
      }
      console.out.print("{}: passed over, as it is {}\n", path.string(), read.passed_over);
    }
    std::ranges::move(read.nights, std::back_inserter(sources));
  }
  std::ranges::stable_sort(sources, {}, &NightSource::measured_s);
  add_sources(request, std::move(sources), console);
}

[[noreturn]] void fail_for_unknown(const std::string& name, const History& history) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> near;
  const std::vector<std::string> known = history.benchmarks();
  std::ranges::copy_if(known, std::back_inserter(near), [&](const std::string& other) {
    return near.size() < kMostNamed && other.find(name) != std::string::npos;
  });
  const std::string nearest = baselines::nearest_name(name, known);
  if (near.empty() && !nearest.empty()) near.push_back(nearest);
  throw InputError(
      history.path().string(), "",
      fmt::format("no night has \"{}\"{}", name,
                  near.empty() ? std::string() : fmt::format("; near: {}", fmt::join(near, ", "))));
}

void show_benchmark(const std::string& name, const History& history, Console& console) {
  const std::vector<baselines::HistoryPoint> points = history.series(name);
  if (points.empty()) fail_for_unknown(name, history);
  console.out.print("{}, {}\n\n", name, format_count(points.size(), "night"));
  std::map<std::string, std::vector<baselines::HistoryPoint>> by_device;
  for (const baselines::HistoryPoint& point : points) {
    by_device[point.night.device].push_back(point);
  }
  for (const auto& [device, own] : by_device) {
    if (by_device.size() > 1) console.out.print("On {}\n", device.empty() ? "unknown" : device);
    console.out.lines(history_table(own).text(kAnyWidth, console.out.style()) + '\n');
  }
}

}  // namespace

void add_history(CommandLine& line) {
  auto [app, request] =
      line.add("history", "Keep nights in a database, and show how a benchmark's time went",
               "fusegate history add .fusegate/runs/20261122T102030Z", history_command);
  request.database = kept_folder() / "history.db";
  request.checkout = checkout_root(fs::current_path());
  app.add_option("action", request.action,
                 "add: runs, each with the replay measured beside it; import: the same, stored "
                 "baselines and exported nights, oldest first; show: a benchmark's nights as a "
                 "table")
      ->check(CLI::IsMember({"add", "import", "show"}))
      ->required();
  app.add_option("names", request.names,
                 "Of add and import: run folders, run files, stored baselines, exported nights. Of "
                 "show: benchmarks")
      ->type_name("NAME");
  app.add_option("--db", request.database,
                 "The database; by default .fusegate/history.db in the git checkout")
      ->type_name("FILE");
}

baselines::ExitCode history_command(const HistoryRequest& request, Console& console) {
  if (request.names.empty()) {
    throw InputError("history " + request.action, "",
                     request.action == "show" ? "name a benchmark" : "name a run");
  }
  if (request.action == "add" || request.action == "import") {
    add_nights(request, console);
    return baselines::ExitCode::kNoRegression;
  }
  const History history(request.database, DatabaseUse::kRead);
  for (const std::string& name : request.names) show_benchmark(name, history, console);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci

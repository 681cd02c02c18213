// A history: nights, and the change points found in them, in one SQLite file.
//
// Nights have the order in which they were added, whatever their clocks said: one that was set back
// puts no night before others (measured_before() finds it). Several processes of one machine may
// write: each waits for the other, and each of the calls that write is there whole or not at all,
// also where the process is killed. Everything throws InputError naming the file: where it is
// damaged, another program's, of a newer schema, or cannot be written.
//
// What stays of a benchmark from night to night is kept once (codes.h): a night of 344 benchmarks
// takes 33 kB (docs/evidence/history.md). Figures lie by benchmark within spans of nights, so that
// adding a night and reading a series both touch few pages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/database.h"
#include "baselines/history/night.h"
#include "baselines/io/settings.h"

namespace fusegate::baselines {

// A benchmark in a night; the night itself has no benchmarks.
struct HistoryPoint {
  Night night;
  NightBenchmark benchmark;
};

struct StoredChangePoint {
  std::int64_t id = 0;
  ChangePoint point{};
};

// What a benchmark's time at equal clock is taken at.
struct CommonClock {
  double ghz = kUnknown;
  double share = 0;  // of the clock in its time (baselines/comparing/clock_share.h)
};

class History {
 public:
  // To be written, the file is made where it is not there.
  History(const std::filesystem::path& path, DatabaseUse use);

  // False where that session is there already: then nothing is changed.
  bool add(const Night& night);

  // All oldest first. Without benchmarks:
  std::vector<Night> nights() const;
  // A point a night that has the benchmark; of no known benchmark, none.
  std::vector<HistoryPoint> series(const std::string& benchmark) const;
  // Whole.
  std::vector<Night> whole_nights() const;
  std::vector<std::string> benchmarks() const;  // sorted
  // What a device's benchmarks were taken at when each was first added: so they stay comparable.
  std::map<std::string, CommonClock> clocks(const std::string& device) const;

  // By id, which is the order in which they were added.
  std::vector<StoredChangePoint> change_points() const;
  std::int64_t add(const ChangePoint& point);
  // All but confirmation and triage, which are set apart and stay. These three throw InputError for
  // an id that is not there.
  void update(const StoredChangePoint& changed);
  void set_confirmation(std::int64_t id, std::optional<Confirmation> confirmation);
  void set_is_true(std::int64_t id, std::optional<bool> is_true);

  // What somebody must remember between nights, by a key of its own such as "notify/issue-7".
  std::optional<std::string> state(const std::string& key) const;
  void set_state(const std::string& key, const std::string& value);

  // As the suite of the last run that was added names them.
  Settings settings() const;
  void set_settings(const Settings& settings);

  const std::filesystem::path& path() const { return database_.path(); }

 private:
  // update: returns the change point of that id.
  void change(Statement& update, std::int64_t id);

  Database database_;
};

// The latest of the nights that the clock says was measured after this one, though it was added
// before; nothing where the clock went on.
const Night* measured_before(const Night& night, const std::vector<Night>& earlier);

}  // namespace fusegate::baselines

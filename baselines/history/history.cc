#include "baselines/history/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "baselines/history/codes.h"
#include "baselines/history/night_fields.h"
#include "baselines/history/stored_list.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

// "fghi" of the file's header: whose it is.
constexpr std::int64_t kApplication = 0x66676869;
constexpr std::int64_t kSchemaVersion = 1;

// Figures lie by benchmark within spans of so many nights. By benchmark alone, adding a night of
// 10,000 benchmarks to 1,000 nights wrote a page for each of them, and took 2.2 s on two busy
// cores; by night alone, a series would be read from a page a night.
constexpr std::int64_t kSpan = 16;

// Words and codes: codes.h.
constexpr std::array kSchema{
    "CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE night(id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL UNIQUE,"
    " unix_s INTEGER NOT NULL, \"commit\" TEXT, parent TEXT, device TEXT, card TEXT, machine TEXT,"
    " driver TEXT, cuda TEXT, cublas TEXT, program TEXT, suite TEXT, method TEXT, replayed TEXT)",
    "CREATE TABLE code(id INTEGER PRIMARY KEY, benchmark INTEGER REFERENCES word,"
    " device INTEGER REFERENCES word, operation INTEGER REFERENCES word,"
    " implementation INTEGER REFERENCES word, identity INTEGER REFERENCES word,"
    " kernels INTEGER REFERENCES word, choices INTEGER REFERENCES word, is_control INTEGER,"
    " clock_ghz REAL, clock_share REAL)",
    "CREATE INDEX code_of_benchmark ON code(benchmark, identity)",
    "CREATE TABLE figures(span INTEGER, benchmark INTEGER REFERENCES word,"
    " night INTEGER REFERENCES night,"
    " code INTEGER REFERENCES code, processes INTEGER, log_equal_clock REAL, process_variance REAL,"
    " ns REAL, cycles REAL, energy_j REAL, host_ns REAL, over_replay REAL,"
    " over_replay_variance REAL, PRIMARY KEY(span, benchmark, night)) WITHOUT ROWID",
    "CREATE TABLE change_point(id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT, benchmarks TEXT,"
    " first_session TEXT, last_session_before TEXT, alarm_session TEXT, effect REAL, low REAL,"
    " high REAL, class TEXT, reason TEXT, confirmation TEXT, is_true INTEGER)",
    "CREATE TABLE state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"};

// Columns of a night before its texts, and of figures before these.
constexpr int kFirstText = 3, kFirstFigure = 5;

// "?, ?, ?"
std::string placeholders(std::size_t count) {
  return fmt::format("{}", fmt::join(std::vector<char>(count, '?'), ", "));
}

// A file without anything in it becomes a history. Of two processes that both make one, the second
// finds it made.
void make_schema(const Database& database) {
  Transaction transaction(database);
  if (database.number_of("SELECT count(*) FROM sqlite_master") == 0) {
    database.run(fmt::format("PRAGMA application_id = {}", kApplication));
    database.run(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
    for (const char* sql : kSchema) database.run(sql);
  }
  transaction.commit();
}

void require_own(const Database& database) {
  const std::string path = database.path().string();
  const std::int64_t version = database.number_of("PRAGMA user_version");
  if (database.number_of("PRAGMA application_id") != kApplication) {
    throw InputError(path, "", "is a database of another program; name another file for a history");
  }
  if (version > kSchemaVersion) {
    throw InputError(path, "user_version",
                     fmt::format("a newer fusegate wrote it: it has schema {}, and this fusegate "
                                 "reads up to {}; update fusegate, or name another file",
                                 version, kSchemaVersion));
  }
}

void add_night(const Database& database, const Night& night) {
  Statement insert(database, fmt::format("INSERT INTO night VALUES (NULL, {})",
                                         placeholders(2 + kNightTexts.size())));
  insert.with(night.session, night.unix_s);
  for (const auto& [name, text] : kNightTexts) insert.add(night.*text);
  insert.run();
}

void add_figures(const Database& database, const Night& night, std::int64_t id) {
  CodeWriter codes(database, night.device);
  Statement insert(database, fmt::format("INSERT INTO figures VALUES ({})",
                                         placeholders(kFirstFigure + kFigures.size() + 2)));
  for (const NightBenchmark& benchmark : night.benchmarks) {
    insert.with(id / kSpan, codes.benchmark_id(benchmark), id, codes.id_of(benchmark),
                benchmark.processes);
    for (const auto& [name, figure] : kFigures) insert.add(benchmark.*figure);
    const LogEffect over = benchmark.over_replay.value_or(LogEffect{});
    insert.add(over.value).add(over.variance).run();
  }
}

Night read_night(const Statement& row) {
  Night night{.session = row.text(1), .unix_s = row.integer(2)};
  int column = kFirstText;
  for (const auto& [name, text] : kNightTexts) night.*text = row.text(column++);
  return night;
}

NightBenchmark read_figures(const Statement& row, CodeReader& codes) {
  NightBenchmark benchmark = codes.of(row.integer(3));
  benchmark.processes = static_cast<int>(row.integer(4));
  int column = kFirstFigure;
  for (const auto& [name, figure] : kFigures) benchmark.*figure = row.number(column++);
  if (!row.is_null(column)) {
    benchmark.over_replay = {.value = row.number(column), .variance = row.number(column + 1)};
  }
  return benchmark;
}

std::map<std::int64_t, Night> nights_by_id(const Database& database) {
  std::map<std::int64_t, Night> nights;
  Statement rows(database, "SELECT * FROM night ORDER BY id");
  while (rows.step()) nights.emplace_hint(nights.end(), rows.integer(0), read_night(rows));
  return nights;
}

std::vector<Night> in_order(std::map<std::int64_t, Night> by_id) {
  std::vector<Night> nights;
  for (auto& [id, night] : by_id) nights.push_back(std::move(night));
  return nights;
}

StoredChangePoint read_change_point(const Statement& row, const Database& database) {
  ChangePoint point{.subject = row.text(1),
                    .benchmarks = read_stored_list<std::vector<std::string>>(row.text(2), database),
                    .first_session = row.text(3),
                    .last_session_before = row.text(4),
                    .alarm_session = row.text(5),
                    .effect = row.number(6),
                    .low = row.number(7),
                    .high = row.number(8),
                    .of_class = change_class_of(row.text(9)).value_or(ChangeClass::kUnexplained),
                    .reason = row.text(10),
                    .confirmation = confirmation_of(row.text(11))};
  if (!row.is_null(12)) point.is_true = row.integer(12) != 0;
  return {row.integer(0), std::move(point)};
}

// Of the state; owners alone in databases of before.
constexpr std::array kSettingsKeys{"settings", "owners"};

// The values of the columns subject to reason.
void fill(Statement& statement, const ChangePoint& point, const std::string& benchmarks) {
  statement.with(point.subject, benchmarks, point.first_session, point.last_session_before,
                 point.alarm_session, point.effect, point.low, point.high,
                 change_class_name(point.of_class), point.reason);
}

}  // namespace

History::History(const std::filesystem::path& path, DatabaseUse use) : database_(path, use) {
  if (use == DatabaseUse::kWrite) {
    // In KiB. What a night of 10,000 benchmarks changes stays in memory until it is committed.
    database_.run("PRAGMA cache_size = -131072");
    if (database_.number_of("PRAGMA application_id") != kApplication) make_schema(database_);
  }
  require_own(database_);
}

bool History::add(const Night& night) {
  Transaction transaction(database_);
  Statement there(database_, "SELECT 1 FROM night WHERE session = ?");
  if (there.with(night.session).step()) return false;
  add_night(database_, night);
  add_figures(database_, night, database_.last_id());
  transaction.commit();
  return true;
}

std::vector<Night> History::nights() const { return in_order(nights_by_id(database_)); }

std::vector<HistoryPoint> History::series(const std::string& benchmark) const {
  const std::map<std::int64_t, Night> nights = nights_by_id(database_);
  CodeReader codes(database_);
  Statement rows(database_,
                 "SELECT * FROM figures WHERE span = ? AND benchmark ="
                 " (SELECT id FROM word WHERE text = ?) ORDER BY night");
  const std::int64_t last = nights.empty() ? -1 : nights.rbegin()->first / kSpan;
  std::vector<HistoryPoint> points;
  for (std::int64_t span = 0; span <= last; ++span) {
    rows.with(span, benchmark);
    while (rows.step()) {
      const auto night = nights.find(rows.integer(2));
      // Of one that was added meanwhile there is none.
      if (night != nights.end()) points.push_back({night->second, read_figures(rows, codes)});
    }
  }
  return points;
}

std::vector<Night> History::whole_nights() const {
  std::map<std::int64_t, Night> nights = nights_by_id(database_);
  CodeReader codes(database_);
  Statement rows(database_, "SELECT * FROM figures");
  while (rows.step()) {
    const auto night = nights.find(rows.integer(2));
    if (night != nights.end()) night->second.benchmarks.push_back(read_figures(rows, codes));
  }
  for (auto& [id, night] : nights) std::ranges::sort(night.benchmarks, {}, &NightBenchmark::name);
  return in_order(std::move(nights));
}

std::vector<std::string> History::benchmarks() const {
  std::vector<std::string> names;
  Statement rows(database_,
                 "SELECT text FROM word WHERE id IN (SELECT benchmark FROM code) ORDER BY text");
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

std::map<std::string, CommonClock> History::clocks(const std::string& device) const {
  std::map<std::string, CommonClock> clocks;
  Statement rows(database_,
                 "SELECT text, clock_ghz, clock_share FROM code JOIN word ON word.id = benchmark"
                 " WHERE device = (SELECT id FROM word WHERE text = ?) AND clock_ghz > 0"
                 " ORDER BY code.id");
  rows.with(device);
  while (rows.step()) {
    clocks.emplace(rows.text(0), CommonClock{.ghz = rows.number(1), .share = rows.number(2)});
  }
  return clocks;
}

std::vector<StoredChangePoint> History::change_points() const {
  std::vector<StoredChangePoint> points;
  Statement rows(database_, "SELECT * FROM change_point ORDER BY id");
  while (rows.step()) points.push_back(read_change_point(rows, database_));
  return points;
}

std::int64_t History::add(const ChangePoint& point) {
  Transaction transaction(database_);
  const std::string benchmarks = stored_list(point.benchmarks);
  Statement insert(database_, fmt::format("INSERT INTO change_point VALUES (NULL, {}, NULL, NULL)",
                                          placeholders(10)));
  fill(insert, point, benchmarks);
  insert.run();
  const std::int64_t id = database_.last_id();
  set_confirmation(id, point.confirmation);
  set_is_true(id, point.is_true);
  transaction.commit();
  return id;
}

void History::update(const StoredChangePoint& changed) {
  const std::string benchmarks = stored_list(changed.point.benchmarks);
  Statement update(database_,
                   "UPDATE change_point SET subject = ?, benchmarks = ?, first_session = ?,"
                   " last_session_before = ?, alarm_session = ?, effect = ?, low = ?, high = ?,"
                   " class = ?, reason = ? WHERE id = ? RETURNING id");
  fill(update, changed.point, benchmarks);
  change(update.add(changed.id), changed.id);
}

void History::set_confirmation(std::int64_t id, std::optional<Confirmation> confirmation) {
  Statement update(
      database_, "UPDATE change_point SET confirmation = NULLIF(?, '') WHERE id = ? RETURNING id");
  change(update.with(confirmation ? confirmation_name(*confirmation) : "", id), id);
}

void History::set_is_true(std::int64_t id, std::optional<bool> is_true) {
  Statement update(database_,
                   "UPDATE change_point SET is_true = NULLIF(?, -1) WHERE id = ? RETURNING id");
  change(update.with(is_true ? int{*is_true} : -1, id), id);
}

void History::change(Statement& update, std::int64_t id) {
  if (!update.step()) {
    throw InputError(path().string(), fmt::format("change point {}", id), "is not there");
  }
  update.step();  // to the end, which commits it
}

std::optional<std::string> History::state(const std::string& key) const {
  Statement row(database_, "SELECT value FROM state WHERE key = ?");
  return row.with(key).step() ? std::optional(row.text(0)) : std::nullopt;
}

void History::set_state(const std::string& key, const std::string& value) {
  Statement(database_, "INSERT OR REPLACE INTO state VALUES (?, ?)").with(key, value).run();
}

Settings History::settings() const {
  for (const char* const key : kSettingsKeys) {
    const auto text = state(key);
    if (!text) continue;
    const nlohmann::json parsed{{key, parse_json(*text, path().string())}};
    return read_settings(JsonField(parsed, path().string(), "state"), kSettingsKeys.front());
  }
  return {};
}

void History::set_settings(const Settings& settings) {
  set_state(kSettingsKeys.front(), settings_json(settings).dump());
}

const Night* measured_before(const Night& night, const std::vector<Night>& earlier) {
  const Night* latest = nullptr;
  for (const Night& other : earlier) {
    if (other.unix_s > night.unix_s && (latest == nullptr || other.unix_s > latest->unix_s)) {
      latest = &other;
    }
  }
  return latest;
}

}  // namespace fusegate::baselines

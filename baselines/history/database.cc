#include "baselines/history/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

// What is wrong, and what to do about it.
std::string problem_of(int code, const char* text, int system_error) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "is not a history, or its start is damaged; nothing was changed. Name another file, "
             "or "
             "put a copy of it back";
    case SQLITE_CORRUPT:
      return damaged_text(text);
    case SQLITE_FULL:
      return "the disk is full: nothing was added, and what was there is as it was; make room and "
             "try again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("another process has written to it for {} s; try again when it has ended",
                         Database::kLongestWaitMs / 1000);
    case SQLITE_IOERR:
      // SQLite has rolled back by now, and with that the system's reason is gone.
      return fmt::format(
          "cannot be read or written ({}; is the disk full, or a limit of files "
          "reached?): nothing was added, and what was there is as it was",
          text);
    case SQLITE_READONLY:
      return "may not be written to; allow it, or name another file";
    case SQLITE_CANTOPEN:
      return fmt::format("cannot be opened ({})",
                         system_error != 0 ? std::strerror(system_error) : text);
    default:
      return text;
  }
}

void require_file(const fs::path& path, DatabaseUse use) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_regular_file(status)) return;
  if (fs::exists(status))
    throw InputError(path.string(), "", "is not a file, so it is not a history");
  if (use == DatabaseUse::kRead) {
    throw InputError(path.string(), "",
                     "is not there; a history is made by: fusegate history add RUN");
  }
  if (!path.parent_path().empty()) fs::create_directories(path.parent_path());
}

}  // namespace

std::string damaged_text(std::string_view how) {
  return fmt::format(
      "is damaged ({}); nothing was changed. Put a copy of it back, or save what can be read: "
      "sqlite3 FILE .recover | sqlite3 NEW",
      how);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v2(database.connection(), sql.data(),
                                      static_cast<int>(sql.size()), &made, nullptr);
  statement_.reset(made);
  if (code != SQLITE_OK) database.fail(code);
}

// Its result is that of the last step, which was reported.
void Statement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->fail(code);
  return code == SQLITE_ROW;
}

void Statement::bind(int position, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), position, value);
}

// SQLite makes NULL of NaN.
void Statement::bind(int position, double value) {
  sqlite3_bind_double(statement_.get(), position, value);
}

void Statement::bind(int position, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), position, value.data(), value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return start == nullptr ? "" : std::string(start, static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

// Also to be read it is opened for writing where that is allowed: the first who opens it after a
// writer was killed takes back what that one had not ended. An absolute path is never one of
// SQLite's own names, such as ":memory:".
Database::Database(const fs::path& path, DatabaseUse use) : path_(path) {
  require_file(path, use);
  sqlite3* made = nullptr;
  const int create = use == DatabaseUse::kWrite ? SQLITE_OPEN_CREATE : 0;
  const int code =
      sqlite3_open_v2(fs::absolute(path).c_str(), &made, SQLITE_OPEN_READWRITE | create, nullptr);
  connection_.reset(made);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(made, kLongestWaitMs);
  // Of a file that others may have written (https://www.sqlite.org/security.html).
  for (const char* guard : {"PRAGMA trusted_schema = 0", "PRAGMA cell_size_check = 1"}) run(guard);
  if (use == DatabaseUse::kRead) run("PRAGMA query_only = 1");
}

std::int64_t Database::number_of(std::string_view sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(connection()); }

void Database::fail(int code) const {
  const int error = connection_ ? sqlite3_system_errno(connection()) : errno;
  const char* text = connection_ ? sqlite3_errmsg(connection()) : sqlite3_errstr(code);
  throw InputError(path_.string(), "", problem_of(code, text, error));
}

// After a full disk SQLite has rolled back by itself, and says so here.
Transaction::~Transaction() {
  if (is_open_) sqlite3_exec(database_.connection(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace fusegate::baselines

// SQLite's C interface as the history needs it: a connection and statements, whose errors are
// InputErrors that name the file and say what to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace fusegate::baselines {

enum class DatabaseUse { kRead, kWrite };

class Database;

// The problem of a damaged file, and what to do.
std::string damaged_text(std::string_view how);

// A prepared statement. Values are bound to ?1, ?2, ... and columns counted from 0. NaN is NULL.
// All throw InputError.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  // Starts it anew with these values, in order; add() adds the next. A text must outlive the steps.
  template <typename... Values>
  Statement& with(const Values&... values) {
    reset();
    (add(values), ...);
    return *this;
  }
  template <typename Value>
  Statement& add(const Value& value) {
    bind(++bound_, value);
    return *this;
  }
  // Whether there is a row. Waits for a writer of another process, up to kLongestWait.
  bool step();
  // For one that has no rows.
  void run() {
    step();
    reset();
  }

  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  void reset();
  void bind(int position, std::int64_t value);
  void bind(int position, int value) { bind(position, std::int64_t{value}); }
  void bind(int position, const char* value) { bind(position, std::string_view(value)); }
  void bind(int position, double value);
  void bind(int position, std::string_view value);
  void bind(int position, const std::string& value) { bind(position, std::string_view(value)); }

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

class Database {
 public:
  static constexpr int kLongestWaitMs = 20'000;

  // To be written, it is made where it is not there, with its folders.
  Database(const std::filesystem::path& path, DatabaseUse use);

  void run(std::string_view sql) const { Statement(*this, sql).run(); }
  // Of "PRAGMA name".
  std::int64_t number_of(std::string_view sql) const;
  std::int64_t last_id() const;
  const std::filesystem::path& path() const { return path_; }
  sqlite3* connection() const { return connection_.get(); }
  // Of SQLite's last call, by its code.
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// All between its making and commit(), or nothing. Waits until no other process writes.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {
    database.run("BEGIN IMMEDIATE");
  }
  void commit() {
    database_.run("COMMIT");
    is_open_ = false;
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;  // there is one a connection
  Transaction& operator=(const Transaction&) = delete;

 private:
  const Database& database_;
  bool is_open_ = true;
};

}  // namespace fusegate::baselines

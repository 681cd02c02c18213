// What stays of a benchmark from night to night, a code: its names, identity, kernels, choices and
// common clock. A history keeps each once, in the table "code", and the texts of codes once as
// words.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "baselines/history/database.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

// Texts by number, each asked for once.
class Words {
 public:
  explicit Words(const Database& database);

  // Adds it where it is missing.
  std::int64_t id_of(const std::string& text);
  const std::string& text_of(std::int64_t id);

 private:
  const Database& database_;
  Statement find_, read_;
  std::unordered_map<std::string, std::int64_t> ids_{};
  std::unordered_map<std::int64_t, std::string> texts_{};
};

class CodeWriter {
 public:
  CodeWriter(const Database& database, const std::string& device);

  std::int64_t benchmark_id(const NightBenchmark& benchmark) {
    return words_.id_of(benchmark.name);
  }
  // Adds it where it is missing.
  std::int64_t id_of(const NightBenchmark& benchmark);

 private:
  Statement& fill(Statement& statement, const NightBenchmark& of);

  const Database& database_;
  Words words_;
  const std::int64_t device_;
  Statement find_, insert_;
};

class CodeReader {
 public:
  explicit CodeReader(const Database& database);

  // A benchmark without figures; each is read once.
  const NightBenchmark& of(std::int64_t id);

 private:
  NightBenchmark read();
  const std::string& word(int column) { return words_.text_of(read_.integer(column)); }

  const Database& database_;
  Words words_;
  Statement read_;
  std::unordered_map<std::int64_t, NightBenchmark> read_codes_{};
};

}  // namespace fusegate::baselines

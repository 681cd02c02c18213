#include "baselines/history/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "baselines/history/stored_list.h"

namespace fusegate::baselines {
namespace {

// "17|hash" a line: a list has the kernels' names by number, as few of them are in many lists.
std::string packed_kernels(const std::vector<std::string>& kernels, Words& words) {
  std::string packed;
  for (const std::string& kernel : kernels) {
    const auto bar = std::min(kernel.rfind('|'), kernel.size());
    packed += fmt::format("{}{}\n", words.id_of(kernel.substr(0, bar)), kernel.substr(bar));
  }
  return packed;
}

std::vector<std::string> unpacked_kernels(std::string_view packed, Words& words) {
  std::vector<std::string> kernels;
  while (!packed.empty()) {
    const auto end = packed.find('\n');
    const std::string line(packed.substr(0, end));
    const auto bar = std::min(line.find('|'), line.size());
    kernels.push_back(words.text_of(std::atoll(line.c_str())) + line.substr(bar));
    packed.remove_prefix(end == packed.npos ? packed.size() : end + 1);
  }
  return kernels;
}

// NaN equals nothing.
double or_zero(double value) { return std::isnan(value) ? 0 : value; }

}  // namespace

Words::Words(const Database& database)
    : database_(database),
      find_(database, "SELECT id FROM word WHERE text = ?"),
      read_(database, "SELECT text FROM word WHERE id = ?") {}

std::int64_t Words::id_of(const std::string& text) {
  const auto [known, is_new] = ids_.try_emplace(text);
  if (!is_new) return known->second;
  if (find_.with(text).step()) return known->second = find_.integer(0);
  Statement(database_, "INSERT INTO word(text) VALUES (?)").with(text).run();
  return known->second = database_.last_id();
}

const std::string& Words::text_of(std::int64_t id) {
  const auto [known, is_new] = texts_.try_emplace(id);
  if (is_new && read_.with(id).step()) known->second = read_.text(0);
  return known->second;
}

CodeWriter::CodeWriter(const Database& database, const std::string& device)
    : database_(database),
      words_(database),
      device_(words_.id_of(device)),
      find_(database,
            "SELECT id FROM code WHERE benchmark = ? AND device = ? AND operation = ? AND"
            " implementation = ? AND identity = ? AND kernels = ? AND choices = ? AND"
            " is_control = ? AND clock_ghz = ? AND clock_share = ?"),
      insert_(database, "INSERT INTO code VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

std::int64_t CodeWriter::id_of(const NightBenchmark& benchmark) {
  if (fill(find_, benchmark).step()) return find_.integer(0);
  fill(insert_, benchmark).run();
  return database_.last_id();
}

Statement& CodeWriter::fill(Statement& statement, const NightBenchmark& of) {
  const std::int64_t kernels = words_.id_of(packed_kernels(of.kernels, words_));
  const std::int64_t choices = words_.id_of(stored_list(of.choices));
  return statement.with(benchmark_id(of), device_, words_.id_of(of.operation),
                        words_.id_of(of.implementation), words_.id_of(of.identity), kernels,
                        choices, int{of.is_control}, or_zero(of.clock_ghz),
                        or_zero(of.clock_share));
}

CodeReader::CodeReader(const Database& database)
    : database_(database),
      words_(database),
      read_(database,
            "SELECT benchmark, operation, implementation, identity, kernels, choices, is_control,"
            " clock_ghz, clock_share FROM code WHERE id = ?") {}

const NightBenchmark& CodeReader::of(std::int64_t id) {
  const auto [known, is_new] = read_codes_.try_emplace(id);
  if (is_new && read_.with(id).step()) known->second = read();
  return known->second;
}

NightBenchmark CodeReader::read() {
  using Choices = std::map<std::string, std::string>;
  NightBenchmark code{.name = word(0),
                      .operation = word(1),
                      .implementation = word(2),
                      .is_control = read_.integer(6) != 0,
                      .identity = word(3),
                      .kernels = unpacked_kernels(word(4), words_),
                      .choices = read_stored_list<Choices>(word(5), database_),
                      .clock_share = read_.number(8)};
  if (read_.number(7) > 0) code.clock_ghz = read_.number(7);
  return code;
}

}  // namespace fusegate::baselines

// What nvbench's and pytest-benchmark's files have in common: an object with a list "benchmarks".
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {

// Streams the text: hands over each element of "benchmarks", and returns the tree of the rest.
// Throws InputError naming source and field.
nlohmann::json walk_benchmarks(
    std::string text, const std::string& source,
    const std::function<void(simdjson::ondemand::value, std::size_t index)>& on_benchmark);

// Adds the time that a field tells in units of that many nanoseconds. Where it is none, that is why
// the benchmark failed.
void add_time(const JsonField& field, double unit_ns, ForeignBenchmark& benchmark);

// Refuses an empty name, and one that another has: their samples could not be told apart between
// runs.
class UniqueNames {
 public:
  void add(const std::string& name, const std::string& source, const std::string& place);

 private:
  std::set<std::string> seen_;
};

}  // namespace fusegate::baselines

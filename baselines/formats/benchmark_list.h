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

// Streams the text: hands over each element of "benchmarks", and returns the tree of all others.
// Throws InputError naming source and field.
nlohmann::json walk_benchmarks(
    std::string text, const std::string& source,
    const std::function<void(simdjson::ondemand::value, std::size_t index)>& on_benchmark);

// Adds the field's time, in units of that many nanoseconds. A bad time fails the benchmark.
void add_time(const JsonField& field, double unit_ns, ForeignBenchmark& benchmark);

// Refuses empty and repeated names: runs are compared by name.
class UniqueNames {
 public:
  void add(const std::string& name, const std::string& source, const std::string& path);

 private:
  std::set<std::string> seen_;
};

}  // namespace fusegate::baselines

#include "baselines/formats/benchmark_list.h"

#include <fmt/format.h>

#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"

namespace fusegate::baselines {

using simdjson::ondemand::json_type;

nlohmann::json walk_benchmarks(
    std::string text, const std::string& source,
    const std::function<void(simdjson::ondemand::value, std::size_t)>& on_benchmark) {
  nlohmann::json others = nlohmann::json::object();
  bool saw_benchmarks = false;
  walk_json(std::move(text), source, [&](simdjson::ondemand::document& document) {
    for (auto member : document.get_object()) {
      const std::string key(key_of(member));
      simdjson::ondemand::value value = member.value();
      if (key != "benchmarks") {
        others[key] = tree_of(value);
        continue;
      }
      if (saw_benchmarks) throw InputError(source, key, "occurs twice");
      saw_benchmarks = true;
      if (value.type() == json_type::null) {  // nvbench's word for an empty list
        check_json(value);
        continue;
      }
      if (value.type() != json_type::array) throw InputError(source, key, "must be an array");
      std::size_t index = 0;
      for (simdjson::ondemand::value benchmark : value.get_array()) {
        if (benchmark.type() != json_type::object) {
          throw InputError(source, fmt::format("benchmarks[{}]", index), "must be an object");
        }
        on_benchmark(benchmark, index++);
      }
    }
  });
  if (!saw_benchmarks) throw InputError(source, "benchmarks", "is missing");
  return others;
}

void add_time(const JsonField& field, double unit_ns, ForeignBenchmark& benchmark) {
  const bool is_number = field.value().is_number();
  const double time_ns = is_number ? field.number() * unit_ns : 0;
  const std::string_view problem = is_number ? time_problem(time_ns) : "must be a number";
  if (problem.empty()) {
    benchmark.times_ns.push_back(time_ns);
  } else if (benchmark.failure.empty()) {
    benchmark.failure = fmt::format("{}: {}", field.path(), problem);
  }
}

void UniqueNames::add(const std::string& name, const std::string& source, const std::string& path) {
  if (name.empty()) throw InputError(source, path, "has an empty name");
  if (!seen_.insert(name).second) {
    throw InputError(source, path, fmt::format("\"{}\" names two benchmarks", name));
  }
}

}  // namespace fusegate::baselines

// Which benchmarks failed in the processes of a run. A wrong kernel fails in every shape and every
// process: it is reported once, with how often.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "ci/console/console.h"

namespace fusegate::ci {

class FailedBenchmarks {
 public:
  // Whether it is the first of its kernel (OPERATION/IMPLEMENTATION) and kind of failure.
  bool add(const std::string& benchmark, const std::string& failure);
  // processes: of which the failures are. where: the folders of these, or empty.
  void print(std::size_t processes, const std::string& where, Console& console) const;

 private:
  struct Group {
    std::map<std::string, int> times{};  // by benchmark
    std::string failure{};               // the first one, of the benchmark below
    std::string first{};
  };
  // By kernel and kind.
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

}  // namespace fusegate::ci

// made_up_site DIR [BENCHMARKS NIGHTS]: the pages of a made-up year.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "ci/site/test_year.h"
#include "ci/site/write_site.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  const auto number = [&](int at, std::size_t otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  try {
    fusegate::ci::write_site(fusegate::ci::made_up_year(number(2, 344), number(3, 365)), argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}

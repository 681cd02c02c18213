#include "tests/fuzzing/target.h"

#include <cstdlib>
#include <iostream>

namespace fusegate::tests {

void promise(bool kept, std::string_view what) {
  if (kept) return;
  std::cerr << "broken promise: " << what << '\n';
  std::abort();
}

}  // namespace fusegate::tests

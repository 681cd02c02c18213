#include "ci/fuzzing/target.h"

#include <cstdlib>
#include <iostream>

namespace fusegate::ci {

void promise(bool kept, std::string_view what) {
  if (kept) return;
  std::cerr << "broken promise: " << what << '\n';
  std::abort();
}

}  // namespace fusegate::ci

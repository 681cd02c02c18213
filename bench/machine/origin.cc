#include "bench/machine/origin.h"

#include <utility>

namespace fusegate::bench {
namespace {

ProgramOrigin& mutable_origin() {
  static ProgramOrigin origin;
  return origin;
}

}  // namespace

OriginRegistration::OriginRegistration(ProgramOrigin origin) {
  mutable_origin() = std::move(origin);
}

const ProgramOrigin& program_origin() { return mutable_origin(); }

std::string library_version() { return FUSEGATE_VERSION; }

}  // namespace fusegate::bench

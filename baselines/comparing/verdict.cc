#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

std::string_view verdict_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kRegression:
      return "regression";
    case VerdictKind::kImprovement:
      return "improvement";
    case VerdictKind::kUnchanged:
      return "unchanged";
    case VerdictKind::kIdentical:
      return "identical";
    case VerdictKind::kInconclusive:
      return "inconclusive";
    case VerdictKind::kNew:
      return "new";
    case VerdictKind::kMissing:
      return "missing";
    case VerdictKind::kInvalid:
      return "invalid";
  }
  return "";
}

}  // namespace fusegate::baselines

// The first page: the last night's verdict, what was found, what is missing, and every benchmark.
#pragma once

#include "ci/document/document.h"
#include "ci/site/series.h"
#include "ci/site/site.h"

namespace fusegate::ci {

Document index_document(const Site& site, const std::vector<Series>& all);

}  // namespace fusegate::ci

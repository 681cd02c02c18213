// Nights as a folder of pages: a first page with what moved and what was found, and a page a
// benchmark. They load nothing from elsewhere, and need no script.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ci/site/site.h"

namespace fusegate::ci {

// Every file by its path in the folder. Throws InputError where there is no night.
std::map<std::string, std::string> site_files(const Site& site);

// Throws InputError. Pages of benchmarks that are no longer there are taken away.
void write_site(const Site& site, const std::filesystem::path& folder);

}  // namespace fusegate::ci

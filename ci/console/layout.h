// Where things lie that belong to fusegate: beside its own program, and in the git checkout.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fusegate::ci {

// The folder of the running executable.
std::filesystem::path own_folder();
// The benchmark program that was built together with this one.
std::filesystem::path default_bench_program();
// What `fusegate init` fills in.
std::filesystem::path project_templates();

// The program that measures peers (bench/peers): of a program that lies where it was built, the one
// of that checkout; else where it would be installed, whether or not it is there.
std::filesystem::path peers_script();

// The Python that runs it: $FUSEGATE_PYTHON; else python3 of PATH.
std::string peers_python();

// The folder or an ancestor of it that has .git; the folder itself where none has.
std::filesystem::path checkout_root(const std::filesystem::path& folder);

// Where runs, reports and local baselines are kept: .fusegate of the current folder's checkout.
std::filesystem::path kept_folder();
// "20261122T102030Z"
std::string folder_name_of_now();
// A run folder's default: runs/TIME of the kept folder.
std::filesystem::path new_run_folder(std::string_view of = "runs");

// Where baselines are looked for: `baselines`, which git keeps, before `.fusegate/baselines`, which
// is this machine's own; under the folder, then under its checkout's root. Each once.
std::vector<std::filesystem::path> default_stores(const std::filesystem::path& folder);

}  // namespace fusegate::ci

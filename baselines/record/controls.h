// Which benchmarks are controls: their code is the driver's or a library's, and no change touches
// it, so that where one differs between two runs, the machine does. The program that measured tells
// it, by "controls" of a run file's context or of a baseline: a list of names, empty where there
// are none. Files of other programs have no such list, and none of theirs is one unless somebody
// names it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

struct Provenance;
struct Run;

// Nothing where the file has no list.
using DeclaredControls = std::optional<std::set<std::string, std::less<>>>;

// "controls" of the object. Throws InputError naming the field.
DeclaredControls read_controls(const JsonField& object);

// Whether a file says so of one of its benchmarks. Where it has no list and a fusegate program
// wrote it, before there were lists, the controls are the two operations that were such then.
bool is_control(const DeclaredControls& declared, const Provenance& provenance,
                std::string_view benchmark);

// In the order of the run. Not of those that were not measured.
std::vector<std::string> controls_of(const Run& run);

// Makes controls of the benchmarks whose names fit a pattern (baselines/io/pattern.h). Throws
// InputError naming what is no pattern.
void name_controls(const std::vector<std::string>& patterns, Run& run);

// Throws InputError naming a pattern that fits no name in any of the runs.
void require_fitting(const std::vector<std::string>& patterns, const std::vector<const Run*>& runs);

}  // namespace fusegate::baselines

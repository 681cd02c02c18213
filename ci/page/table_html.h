// A section's table as HTML.
#pragma once

#include <string>

#include "ci/document/document.h"

namespace fusegate::ci {

// Empty where it has no rows. Rows beyond the section's page_rows are folded.
std::string table_html(const Section& section);

// "good", "bad", ...; empty for plain text. A class of style.css.
const char* tone_class(Tone tone);

}  // namespace fusegate::ci

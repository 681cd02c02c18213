// The files of this folder that are no C++, as CMakeLists.txt puts them into the program.
#pragma once

#include <string_view>

namespace fusegate::ci::assets {

extern const std::string_view kStyleCss;
extern const std::string_view kBlocksCss;
extern const std::string_view kPageJs;

}  // namespace fusegate::ci::assets

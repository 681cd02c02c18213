// Compiles a kernel at run time by NVRTC, without a GPU, the toolkit's headers or a source tree:
// the caller passes the headers.
#pragma once

#include <string>
#include <vector>

namespace fusegate::kernels {

struct NamedText {
  const char* name;  // as an #include has it
  const char* text;
};

struct NvrtcRequest {
  NamedText source;
  std::vector<NamedText> headers;
  std::vector<std::string> macros;  // such as "THREADS=256"
  std::string architecture;         // such as "sm_90"
};

// Machine code for cudaLibraryLoadData. Throws DeviceError with NVRTC's log where it does not
// compile.
std::vector<char> nvrtc_compile(const NvrtcRequest& request);

}  // namespace fusegate::kernels

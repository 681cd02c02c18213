#include "bench/profiling/cupti_library.h"

#include <dlfcn.h>

#include <optional>

namespace fusegate::bench {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<CuptiLibrary> open() {
  void* const library = dlopen(FUSEGATE_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  CuptiLibrary cupti{};
  const bool complete = find(library, "cuptiSubscribe", cupti.subscribe) &&
                        find(library, "cuptiUnsubscribe", cupti.unsubscribe) &&
                        find(library, "cuptiEnableCallback", cupti.enable_callback) &&
                        find(library, "cuptiGetTimestamp", cupti.timestamp) &&
                        find(library, "cuptiSetThreadIdType", cupti.set_thread_id_type) &&
                        find(library, "cuptiGetCallbackName", cupti.callback_name) &&
                        find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
                        find(library, "cuptiActivityEnable", cupti.enable) &&
                        find(library, "cuptiActivityDisable", cupti.disable) &&
                        find(library, "cuptiActivityFlushAll", cupti.flush) &&
                        find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
                        find(library, "cuptiActivityPushExternalCorrelationId", cupti.push_id) &&
                        find(library, "cuptiActivityPopExternalCorrelationId", cupti.pop_id);
  return complete ? std::optional(cupti) : std::nullopt;
}

}  // namespace

const CuptiLibrary* cupti_library() {
  static const std::optional<CuptiLibrary> library = open();
  return library ? &*library : nullptr;
}

}  // namespace fusegate::bench

// CUPTI, the CUDA toolkit's profiling library, opened when it is first used, and not linked. The
// program must start on machines without it, and it must not be loaded while a process measures.
#pragma once

#include <cupti.h>

namespace fusegate::bench {

// Only what is used here. All there since CUDA 12.0.
struct CuptiLibrary {
  decltype(&cuptiSubscribe) subscribe;
  decltype(&cuptiUnsubscribe) unsubscribe;
  decltype(&cuptiEnableCallback) enable_callback;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiSetThreadIdType) set_thread_id_type;
  decltype(&cuptiGetCallbackName) callback_name;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityPushExternalCorrelationId) push_id;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_id;
};

// Null where this machine has none of the toolkit's major version. Stays open.
const CuptiLibrary* cupti_library();

}  // namespace fusegate::bench

#define _GNU_SOURCE
#include "CTraceStart.h"

#include <stdlib.h>

// A program that links RunLoopsDiagnostics can be recorded from outside, as it is. secure_getenv: not one that was
// given more rights than its user has, because it would write a file of the user's choosing.
__attribute__((constructor)) static void start(void) {
    const char *file = secure_getenv("RUNLOOP_TRACE");
    if (file && *file) run_loops_start_trace(file);
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "KeepLoaded.h"

#include <dlfcn.h>

// A host closes its plug-ins: Node does so when a worker ends that was the only one with an add-on. The libraries that only this one has
// brought into the process would go with it, Dispatch among them. Dispatch's threads, which Swift's tasks start, outlive that by some
// seconds, and one that wakes in code that is no longer there ends the process with SIGSEGV (Examples/Node/closing.c).
void runloops_keep_loaded(void) {
    Dl_info info;
    if (!dladdr((void *)runloops_keep_loaded, &info) || !info.dli_fname) return;
    // NULL for the program itself, which is never closed, and in a static program. The handle is kept on purpose.
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

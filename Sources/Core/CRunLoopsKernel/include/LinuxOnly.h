// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Every header of this module includes this one first, so that another system's compiler names the problem before it
// finds any other error. Not in Package.swift: a package that needs this one on Linux alone reads the manifest on
// every system.

#ifndef LINUXONLY_H
#define LINUXONLY_H

#if defined(__APPLE__)
#error "swift-run-loops is for Linux. Use CFRunLoop or Foundation's RunLoop here; depend on this .when(platforms: [.linux])"
#elif defined(_WIN32)
#error "swift-run-loops does not run on Windows yet. Depend on it .when(platforms: [.linux]), import it #if os(Linux)"
#elif !defined(__linux__) || defined(__ANDROID__)
#error "swift-run-loops runs on Linux with Glibc or Musl. Depend on it .when(platforms: [.linux]), import it #if os(Linux)"
#endif

#if __SIZEOF_POINTER__ < 8
#error "swift-run-loops needs a 64-bit machine: x86-64 or arm64. A 32-bit system is not supported"
#endif

// Linux alone has this header. Elsewhere a compiler stops here, with nothing to add to the error above.
#include <sys/epoll.h>

#endif

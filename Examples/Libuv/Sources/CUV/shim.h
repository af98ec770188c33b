// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libuv, for its flags and its Debian package: the program is in C.

#include <uv.h>

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include <X11/Xatom.h>
#include <X11/Xlib.h>

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// GLib as Swift sees it.

#ifndef CGLIB_SHIM_H
#define CGLIB_SHIM_H

#include <glib-unix.h>
#include <glib.h>

#endif

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The headers that every C peer needs.

#include "BenchKit.h"
#include "workloads/c-program.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A version of two or three numbers, as a literal.
#define BK_LITERAL(number) #number
#define BK_VERSION_2(major, minor) BK_LITERAL(major) "." BK_LITERAL(minor)
#define BK_VERSION_3(major, minor, patch) BK_VERSION_2(major, minor) "." BK_LITERAL(patch)

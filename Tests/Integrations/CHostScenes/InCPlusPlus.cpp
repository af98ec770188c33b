// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CHostScenes.h"
#include "RunLoopsHost.h"

unsigned scene_version_in_cpp(void) { return runloops_host_version(); }

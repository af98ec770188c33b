// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// This module has no code. It exists for its catalogue, Guide.docc: the questions, tutorials and recipes that belong to no
// single library. DocC builds a catalogue only with a module.

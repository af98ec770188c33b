// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// One file chooses for the whole module: the others import what they like, Foundation included.
@_exported import FoundationRunLoop

@_exported import class FoundationRunLoop.RunLoop
@_exported import class FoundationRunLoop.Timer

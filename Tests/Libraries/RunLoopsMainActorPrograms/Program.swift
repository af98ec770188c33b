// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program with an async main that links RunLoopsMainActor: not a line of it says so.

import RunLoopsConcurrencyScenes

@main struct Program {
    static func main() async throws { try await Scenes.play(CommandLine.arguments.dropFirst().first ?? "") }
}

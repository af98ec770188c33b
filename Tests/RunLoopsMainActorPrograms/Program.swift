// A program with an async main that links RunLoopsMainActor: not a line of it says so.

import RunLoopsConcurrencyScenes

@main struct Program {
    static func main() async throws { try await Scenes.play(CommandLine.arguments.dropFirst().first ?? "") }
}

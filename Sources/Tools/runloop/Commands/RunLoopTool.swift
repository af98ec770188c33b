// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsEvents
import RunLoopsLibC

/// The command-line tool `runloop`, which inspects the loops of programs.
@main
struct RunLoopTool: ParsableCommand {
    /// The version of the package; between releases, the version of the next one.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "runloop", abstract: "Inspects and records the run loops of processes.", version: version,
        subcommands: [
            DescribeTool.self, PortTool.self, PsTool.self, DumpTool.self, TopTool.self, TraceTool.self, DoctorTool.self,
            TasksTool.self,
        ])

    static func main() {
        // Before anything is opened, also by the parser.
        openClosedDescriptors()
        main(nil)
    }

    /// Opens the null device for each of the three standard descriptors that is closed.
    ///
    /// Without this, one of the tool's own pipes or eventfds would get the number of a closed standard descriptor, and
    /// output would be written to it.
    private static func openClosedDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDWR)
        }
    }
}

extension RunLoop {
    /// Calls the body; a signal that asks the program to end only stops the main loop meanwhile.
    @MainActor
    static func stoppedBySignals(_ body: () throws -> Void) throws {
        var sources: [SignalSource] = []
        defer { for source in sources { source.invalidate() } }
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let source = try SignalSource.mainActor(signal, label: "end") { _, _ in main.stop() }
            sources.append(source)
            try main.add(source, in: .default)
        }
        try body()
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

/// The programs that were built beside the tests.
enum Programs {
    /// How a program's main begins, and what its main actor is on.
    enum Main: CaseIterable {
        /// An async main with `RunLoop.adoptMain()`.
        case adopted
        /// A synchronous one with `RunLoop.runMain`.
        case synchronous
        /// The same, with the main actor on the loop's executor.
        case synchronousOnLoop
        /// An async main that links `RunLoopsMainActor`.
        case linkedOnLoop

        var isOnLoop: Bool { self == .synchronousOnLoop || self == .linkedOnLoop }
        var isAsync: Bool { self == .adopted || self == .linkedOnLoop }

        fileprivate var command: String {
            switch self {
            case .adopted: "RunLoopsConcurrencyPrograms"
            case .synchronous: "RunLoopsSynchronousMainPrograms' 'queue"
            case .synchronousOnLoop: "RunLoopsSynchronousMainPrograms' 'loop"
            case .linkedOnLoop: "RunLoopsMainActorPrograms"
            }
        }
    }

    struct Output {
        let status: CInt
        let text: String

        /// The status a program exited with; `nil` where a signal ended it.
        var exitStatus: CInt? { status & 0x7F == 0 ? (status >> 8) & 0xFF : nil }
        var lines: [Substring] { text.split(separator: "\n") }
    }

    /// Plays a scene to its end; what the program says, on standard output or on both streams.
    static func play(_ scene: String, _ main: Main = .adopted, withErrors: Bool = false) -> Output {
        run("'\(folder)/\(main.command)' '\(scene)'", withErrors: withErrors)
    }

    /// The same for a program and all its arguments.
    static func play(program: String, _ arguments: [String], withErrors: Bool = false) -> Output {
        run(([folder + "/" + program] + arguments).map { "'\($0)'" }.joined(separator: " "), withErrors: withErrors)
    }

    /// The folder of what was built.
    private static var folder: String {
        guard let executable = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(executable) }
        let path = String(cString: executable)
        // The tests of a package are one program, in the same folder.
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Starts a scene that goes on for a while, and waits for the first line it says; `pclose` waits for its end.
    static func start(_ scene: String, _ argument: String) -> UnsafeMutablePointer<FILE>? {
        guard let stream = popen("exec '\(folder)/RunLoopsConcurrencyPrograms' '\(scene)' '\(argument)'", "r") else {
            return nil
        }
        while true {
            let byte = fgetc(stream)
            if byte == 10 { return stream }
            if byte == EOF { break }
        }
        pclose(stream)
        return nil
    }

    private static func run(_ command: String, withErrors: Bool) -> Output {
        // The text of a trap is looked for, not its stack.
        let redirection = withErrors ? "2>&1" : "2>/dev/null"
        let command = "SWIFT_BACKTRACE=enable=no \(command) \(redirection)"
        guard let stream = popen("sh -c \"\(command)\"", "r") else { return Output(status: -1, text: "popen") }
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            if byte == EOF { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return Output(status: pclose(stream), text: String(decoding: text, as: UTF8.self))
    }
}

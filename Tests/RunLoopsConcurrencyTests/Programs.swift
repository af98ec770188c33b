import Glibc
import RunLoopsTestSupport

/// The program of `RunLoopsConcurrencyPrograms`, built beside the tests.
enum Programs {
    struct Output {
        let status: CInt
        let text: String

        /// The status a program exited with; `nil` where a signal ended it.
        var exitStatus: CInt? { status & 0x7F == 0 ? (status >> 8) & 0xFF : nil }
        var lines: [Substring] { text.split(separator: "\n") }
    }

    /// Plays a scene to its end; what the program says, on standard output or on both streams.
    static func play(_ scene: String, withErrors: Bool = false) -> Output {
        run("'\(folder)/RunLoopsConcurrencyPrograms' '\(scene)'", withErrors: withErrors)
    }

    /// The folder of what was built.
    private static var folder: String {
        guard let executable = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(executable) }
        let path = String(cString: executable)
        // The tests of a package are one program, in the same folder.
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
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

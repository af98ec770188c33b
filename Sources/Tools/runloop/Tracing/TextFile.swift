// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLibC
import RunLoopsSystem

/// Reads and writes text files, with errors in words.
enum TextFile {
    /// The maximum size of a file in bytes; a trace of twenty loops with full rings is smaller.
    private static let maxBytes = 256 << 20

    static func read(_ file: SystemText) throws -> String {
        let descriptor = file.withCString { rl_open($0, O_RDONLY, 0) }
        guard descriptor >= 0 else { throw CommandFailure(file.decoded, -descriptor) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = rl_read(descriptor, &piece, piece.count)
            if count < 0 { throw CommandFailure(file.decoded, -count) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<Int(count)]
            // A device or a pipe may have no end.
            if bytes.count > maxBytes {
                throw CommandFailure("\(file.decoded): larger than 256 MB, which no trace is")
            }
        }
    }

    /// Reads a trace from its JSON; errors name the file.
    static func report(_ json: String, named file: String) throws -> RunLoop.Trace.Report {
        do { return try RunLoop.Trace.Report(json: json) } catch { throw CommandFailure("\(file): \(error)") }
    }

    /// Throws an error that would keep ``write(_:to:)`` from writing the file, as far as this can be known before.
    static func check(_ file: SystemText) throws {
        do { try FileReplacement.check(file) } catch {
            if error.code != EEXIST { throw CommandFailure(file.decoded, error.code) }
            throw CommandFailure("\(file.decoded) is not a regular file: nothing else is replaced")
        }
    }

    static func write(_ text: String, to file: SystemText) throws {
        do { try FileReplacement.write(text, to: file) } catch { throw CommandFailure(file.decoded, error.code) }
    }
}

/// The reason why a command has failed.
///
/// The tool prints the sentence and ends with the status 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = Output.visible(description) }

    /// Makes a failure that names its subject and the system's error.
    ///
    /// - Parameter code: An error number of the system.
    init(_ subject: String, _ code: CInt) { self.init("\(subject): \(String(cString: strerror(code)))") }
}

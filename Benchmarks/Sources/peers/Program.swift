// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs one of the peers' programs and reads the line it prints.
struct Program {
    enum Outcome {
        case results([String: Double])
        /// The program said why it has none.
        case skipped(String)
        case failed(String)
    }

    /// Where the peers' programs are: SwiftPM puts them all in one folder.
    static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    let path: String

    init(_ name: String) { path = Self.folder.appendingPathComponent(name).path }
    init(path: String) { self.path = path }

    var exists: Bool { FileManager.default.isExecutableFile(atPath: path) }

    func run(_ arguments: [String], timeout: Int = 180) -> Outcome {
        let process = Process()
        let output = Pipe()
        // timeout(1): a peer that hangs must not hang the whole run.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = ["\(timeout)", path] + arguments
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            return .failed("\(error)")
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 { return .failed("ended with \(process.terminationStatus)") }
        return Self.read(text)
    }

    private static func read(_ text: String) -> Outcome {
        let line = text.split(separator: "\n").last.map(String.init) ?? ""
        if line.hasPrefix("skip ") { return .skipped(String(line.dropFirst(5))) }
        var results: [String: Double] = [:]
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=")
            if parts.count == 2, let value = Double(parts[1]) { results[String(parts[0])] = value }
        }
        return results.isEmpty ? .failed("printed nothing") : .results(results)
    }
}

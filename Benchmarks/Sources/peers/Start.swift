// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Starting a program, and what it brings with it.
struct Start {
    let isStatic: Bool
    let isQuick: Bool

    func measure(_ peer: Peer) -> Program.Outcome {
        let program = isStatic ? staticPath(peer.program) : Program(peer.program).path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            return .skipped("no static build; the full run makes one")
        }
        let words = peer.name == "empty Swift" ? [] : ["W10"]
        let outcome = Program("launcher").run([isQuick ? "15" : "40", program] + words)
        guard case .results(var results) = outcome else { return outcome }
        results["files_mb"] = Double(Self.files(program)) / 1_048_576
        return .results(results)
    }

    // MARK: Files

    /// The bytes of a program and of the shared libraries it loads.
    private static func files(_ program: String) -> Int {
        let text = Command.output("/usr/bin/ldd", [program])
        let libraries = text.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("/") }.map(String.init)
        }
        return (libraries + [program]).reduce(0) { sum, path in
            let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
        }
    }

    // MARK: Static builds

    /// In a build folder of their own, beside the driver's.
    private static var scratch: URL { Program.folder.deletingLastPathComponent().appendingPathComponent("static") }

    private func staticPath(_ program: String) -> String {
        Self.scratch.appendingPathComponent("release/\(program)").path
    }

    /// Builds what W10 compares, with the standard library (and Foundation) linked in.
    static func buildStatic(_ programs: [String], _ progress: (String) -> Void) {
        let package = Command.repository.appendingPathComponent("Benchmarks")
        for program in programs {
            progress("building \(program) with --static-swift-stdlib")
            _ = Command.output(
                "/usr/bin/env",
                [
                    "swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", package.path,
                    "--scratch-path", scratch.path, "--product", program,
                ])
        }
    }
}

/// What a command prints.
enum Command {
    /// The repository whose sources this program was built from.
    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func output(_ path: String, _ arguments: [String]) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "" }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}

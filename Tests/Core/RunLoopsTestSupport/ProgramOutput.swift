// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Testing

extension BuiltPrograms {
    /// The lines that a program prints before it ends with 0; its standard error is dropped.
    ///
    /// - Parameter path: What is started in place of the program, such as a shell that starts it.
    package static func output(
        of program: String, _ arguments: [String] = [], at path: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let built = try #require(Self.path(program), sourceLocation: sourceLocation)
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path ?? built)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        // Foundation has not released everything when a program ends, which the address sanitizer would report.
        process.environment = ProcessInfo.processInfo.environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        try process.run()
        let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, sourceLocation: sourceLocation)
        return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

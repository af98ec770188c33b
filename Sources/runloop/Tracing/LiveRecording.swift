// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsDiagnostics

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A recording inside another process.
enum LiveRecording {
    /// How long an answer may take.
    private static let patience = Duration.seconds(10)

    /// Records for so long, or until a signal asks for the end; then takes over what there is.
    static func take(_ process: Int32, for length: Duration) throws -> RunLoop.Trace {
        let client = try ProcessArgument.connect(process)
        do {
            try client.record(within: patience)
        } catch {
            throw ProcessArgument.failure(process, error)
        }
        try MainActor.assumeIsolated { try wait(length) }
        do {
            return try client.takeRecording(within: patience)
        } catch {
            throw ProcessArgument.failure(process, error)
        }
    }

    @MainActor
    private static func wait(_ length: Duration) throws {
        let loop = RunLoop.main
        // What was recorded until then is what was asked for.
        let ending = [SIGINT, SIGTERM]
        let signals = try SystemSignals(ending) { _ in loop.stop() }
        try loop.add(signals.source, in: .default)
        loop.run(mode: .default, for: length)
        signals.source.invalidate()
        SystemSignals.release(ending)
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CHoldingChild
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// A process whose seccomp filter answers unknown system calls by SIGSYS.
@Suite(
    .limited,
    .disabled(if: Sanitizer.isAny, "a sanitizer makes newer system calls of its own"), .needsSystemCallFilter)
struct InspectorFilterProcessTests {
    @Test func `The inspector answers in a sandbox that kills the process for newer system calls`() async {
        await #expect(processExitsWith: .success) {
            #expect(holding_trap_newer_calls(true))
            // The commands that would remove it make newer calls.
            let folder = InspectorFolder()
            do {
                let inspector = try TestInspector(in: folder)
                let thread = InspectedThread(inspector)
                let client = try inspector.connect()
                #expect(try client.dump(within: plenty).loops.count == 1)
                thread.turn()
                thread.end()
            }
            #expect(rmdir(folder.directory) == 0 && rmdir(folder.path) == 0)
        }
    }
}

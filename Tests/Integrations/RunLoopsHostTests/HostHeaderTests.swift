// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CHostScenes
import CRunLoopsHost
import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoopsHost

/// `RunLoopsHost.h` itself: its languages, its version, and its functions beside those of Swift.
@Suite(.ownThread) struct HostHeaderTests {
    private static let header =
        #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        + "/Sources/Integrations/CRunLoopsHost/include/RunLoopsHost.h"

    @Test func `Each function of the header has the type of its Swift function`() {
        // Compiles only while both types are one.
        func same<Function>(_ declared: Function, _ defined: Function) {}
        same(runloops_host_version, RunLoopsHost.version)
        same(runloops_main, RunLoopsHost.mainLoop)
        same(runloops_current, RunLoopsHost.currentLoop)
        same(runloops_retain, RunLoopsHost.retain)
        same(runloops_release, RunLoopsHost.release)
        same(runloops_poll_descriptor, RunLoopsHost.pollDescriptor)
        same(runloops_prepare_to_poll, RunLoopsHost.prepareToPoll)
        same(runloops_run_ready, RunLoopsHost.runReady)
        same(runloops_wake_up, RunLoopsHost.wakeUp)
        same(runloops_perform, RunLoopsHost.perform)
        same(runloops_stop, RunLoopsHost.stop)
    }

    @Test func `Each function that the header declares is compared above`() throws {
        let header = try lines(Self.header)
        let test = try lines(#filePath)
        let declared = header.filter { !$0.hasPrefix("//") }.flatMap { functions(in: $0, before: "(") }
        let compared = test.filter { $0.contains(" same(") }.flatMap { functions(in: $0, before: ",") }
        #expect(Set(declared) == Set(compared))
        #expect(declared.count == Set(declared).count)
    }

    @Test func `The version of the header is that of the library, in C++ too`() {
        #expect(runloops_host_version() == UInt32(RUNLOOPS_HOST_VERSION))
        #expect(scene_version_in_cpp() == UInt32(RUNLOOPS_HOST_VERSION))
    }

    @Test(arguments: ["cc -x c", "clang -x c", "c++ -x c++", "clang++ -x c++"])
    func `The header compiles as C99 and as C++11, and later, without a warning`(compiler: String) throws {
        let command = compiler.prefix { $0 != " " }
        guard system("command -v \(command) >/dev/null") == 0 else { return }
        let standards =
            compiler.contains("++") ? ["c++11", "c++14", "c++17", "c++20"] : ["c99", "c11", "c17", "gnu99"]
        for standard in standards {
            let options = "-std=\(standard) -Wall -Wextra -Wpedantic -Werror -fsyntax-only"
            #expect(system("\(compiler) \(options) '\(Self.header)'") == 0, "\(compiler) \(standard)")
        }
        // The test can fail: the header is not C89, which has no such comments.
        if !compiler.contains("++") {
            #expect(system("\(compiler) -std=c89 -Wpedantic -Werror -fsyntax-only '\(Self.header)' 2>/dev/null") != 0)
        }
    }

    private func lines(_ path: String) throws -> [String] {
        let file = try #require(fopen(path, "re"), "\(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The names of functions in a line, each directly before `end`.
    private func functions(in line: String, before end: Character) -> [String] {
        line.split(whereSeparator: { $0 == " " || $0 == "*" || ($0 == "(" && end == ",") })
            .filter { $0.hasPrefix("runloops_") && $0.contains(end) }
            .map { String($0.prefix { $0 != end }) }
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

import class RunLoops.RunLoop

/// Objects of one thread that another thread uses, as code in language mode 5 can do without a word of the compiler.
@Suite(.limited) struct OtherThreadProcessTests {
    #if compiler(>=6.3)
    @Test(arguments: Misuse.calls.keys.sorted())
    func `A method called on another thread than its object's traps with a message that names the remedy`(
        name: String
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [name] in
            try Misuse.play(name)
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }
    #endif

    @Test func `The calls above are all public methods of the types that belong to a thread`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Libraries/RunLoopsEvents")
        guard let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) else { return }
        var methods: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(/Thread safety: .*(belongs to the thread that makes it|on the loop's thread)/) else {
                continue
            }
            let type = file.deletingPathExtension().lastPathComponent
            for match in text.matches(of: /\n    public func (\w+)/) { methods.insert("\(type).\(match.1)") }
        }
        #expect(
            methods == [
                "ManagedService.run", "ManagedService.send", "ManagedService.reload", "ManagedService.end",
                "PollSource.invalidate",
            ])
        #expect(methods.subtracting(Misuse.calls.keys) == [])
    }
}

private enum Misuse {
    /// Makes an object, and returns a call of one of its methods.
    static var calls: [String: () throws -> () throws -> Void] {
        /// The object is made here, and used by the call.
        func service(_ use: @escaping (ManagedService) throws -> Void) -> () throws -> () throws -> Void {
            {
                let service = try ManagedService()
                return { try use(service) }
            }
        }
        return [
            "PollSource.invalidate": {
                let source = try PollSource(prepare: { _ in }, dispatch: { _ in })
                return { source.invalidate() }
            },
            "ManagedService.run": service { try $0.run() },
            "ManagedService.send": service { $0.send(.status("ready")) },
            "ManagedService.reload": service { $0.reload() },
            "ManagedService.end": service { $0.end() },
            // The program's argument of `end`, which must be called on the service's thread too.
            "ManagedService, done": {
                let service = try ManagedService()
                let done = Box<() -> Void>({})
                RunLoop.current.performLocally {
                    service.end()
                    RunLoop.current.stop()
                }
                try service.run(end: { done.value = $0 })
                return { withExtendedLifetime(service) { done.value() } }
            },
        ]
    }

    /// Makes the object here, and uses it on another thread.
    static func play(_ name: String) throws {
        nonisolated(unsafe) let use = try calls[name]?() ?? {}
        try TestThread.run { try use() }
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// The programs of the documentation that people copy, as they are.
@Suite(.ownThread, .leavesNothing) struct SnippetProcessTests {
    /// A snippet, what it reads from its standard input, and what it says.
    struct Snippet: CustomTestStringConvertible {
        let name: String
        var input = ""
        let says: [String]
        var testDescription: String { name }
    }

    static let snippets: [Snippet] = [
        Snippet(name: "EventsDescriptor", input: "some text\n", says: ["read 10 bytes"]),
        Snippet(name: "EventsChild", says: ["apple\npear\n", ": exited(0), "]),
        Snippet(name: "EventsChildCompletion", says: ["The child has taken longer than 0.1 seconds", "42"]),
        Snippet(name: "EventsTerminal", says: ["/dev/pts/", "24 80\n", "30 100\n"]),
        Snippet(name: "EventsLaterAnswers", says: ["30 ms are over\n10 ms are over\n20 ms are over\n"]),
        Snippet(
            name: "EventsNames", says: ["connected to port of the server\n", "connected in a task: true\n"]),
        Snippet(name: "EventsService", says: ["Saving"]),
    ]

    @Test(
        .enabled(if: BuiltPrograms.folder(with: "EventsChild", "EventsDescriptor", "EventsService") != nil),
        arguments: snippets)
    func `Each snippet succeeds and prints the expected text`(snippet: Snippet) throws {
        let path = try #require(BuiltPrograms.path(snippet.name))
        let said = try withLoop { loop in
            let child = try Child.spawn(.path(path), input: .pipe, output: .pipe, error: .combinedWithOutput)
            let input = try OutputWriter(#require(child.standardInput)) { _, _ in }
            add(input, to: loop)
            input.write(snippet.input.utf8)
            input.finish()
            let said = Box("")
            let completion = ChildCompletion(child) { _, result in
                guard case .success(let report) = result else { fatalError("\(result)") }
                #expect(report.exit.status.isSuccess)
                said.value = report.outputText
            }
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            return said.value
        }
        for text in snippet.says { #expect(said.contains(text), "\(said)") }
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// Programs with several of the libraries that act when they are linked.
@Suite(.ownThread)
struct AtLoadProcessTests {
    /// A program, and the libraries that it links.
    struct Program: CustomTestStringConvertible {
        let name: String
        let libraries: Set<Library>
        var testDescription: String { name }
    }

    enum Library: CaseIterable { case mainActor, testingMain, foundation, xcTest }

    static let programs = [
        Program(name: "AtLoadActorTestingPrograms", libraries: [.mainActor, .testingMain]),
        Program(name: "AtLoadActorFoundationPrograms", libraries: [.mainActor, .foundation]),
        Program(name: "AtLoadActorXCTestPrograms", libraries: [.mainActor, .xcTest]),
        Program(name: "AtLoadTestingFoundationPrograms", libraries: [.testingMain, .foundation]),
        Program(name: "AtLoadTestingXCTestPrograms", libraries: [.testingMain, .xcTest]),
        Program(name: "AtLoadFoundationXCTestPrograms", libraries: [.foundation, .xcTest]),
        Program(name: "AtLoadAllPrograms", libraries: Set(Library.allCases)),
    ]

    @Test(
        .enabled(if: BuiltPrograms.path("AtLoadAllPrograms") != nil, "the programs were not built"), arguments: programs
    )
    func `Each library that acts at load has its effect beside the others, and no other effect`(program: Program) throws
    {
        let libraries = program.libraries
        let servesFoundation = libraries.contains(.foundation)
        // The loop has the main thread once main is suspended.
        let keepsMainThread = !libraries.isDisjoint(with: [.mainActor, .testingMain])
        let inOurs = Served(ours: true, foundations: servesFoundation)
        let inFoundations = Served(ours: libraries.contains(.xcTest), foundations: true)
        let underTask = Served(ours: keepsMainThread, foundations: keepsMainThread && servesFoundation)
        let said = try BuiltPrograms.output(
            of: program.name, [inOurs.argument, inFoundations.argument, underTask.argument])
        #expect(
            said == [
                "in this loop: \(inOurs.words)", "in Foundation's loop: \(inFoundations.words)",
                "in this loop, again: \(inOurs.words)", "in Foundation's loop, again: \(inFoundations.words)",
                "in Foundation's loop inside this loop: \(inFoundations.words)", "100 of 100 runs were stopped",
                "under an async main: \(underTask.words)",
            ])
    }

    /// Whose timers fire.
    private struct Served {
        let ours: Bool
        let foundations: Bool
        var argument: String { ours ? foundations ? "both" : "ours" : foundations ? "foundations" : "none" }
        var words: String {
            [ours ? "ours" : nil, foundations ? "Foundation's" : nil].compactMap(\.self).joined(separator: " and ")
        }
    }
}

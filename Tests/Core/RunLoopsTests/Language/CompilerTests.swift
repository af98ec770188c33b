// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// What must not compile, each beside a twin that does.
@Suite(
    .ownThread,
    .enabled(if: Compiler() != nil, "there is no swiftc in PATH, or no modules beside the tests"))
struct CompilerTests {
    struct Pair: CustomTestStringConvertible {
        let testDescription: String
        let refused: String
        let error: String
        let accepted: String

        init(_ name: String, refused: String, error: String, accepted: String) {
            testDescription = name
            self.refused = refused
            self.error = error
            self.accepted = accepted
        }
    }

    private static let prelude = """
        import RunLoops
        final class Model { var count = 0 }
        @MainActor final class Screen { var title = "" }

        """

    /// A function around a line that uses a model which is not Sendable.
    private static func withModel(_ line: String) -> String {
        "func use(_ loop: RunLoop) { let model = Model(); \(line) }"
    }

    private static let notSendable = "capture of 'model' with non-Sendable type 'Model' in a '@Sendable' closure"
    private static let mainActor = "main actor-isolated property 'title' can not be mutated from a Sendable closure"

    static let pairs: [Pair] = [
        Pair(
            "a timer for any thread and a thread's state",
            refused: withModel("_ = RunLoop.Timer.sendable(.after(.zero)) { _ in model.count += 1 }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.Timer(.after(.zero)) { _ in model.count += 1 }")),
        Pair(
            "a source for any thread and a thread's state",
            refused: withModel("_ = RunLoop.Source.sendable { _ in model.count += 1 }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.Source { _ in model.count += 1 }")),
        Pair(
            "the schedule closure of a source for any thread and a thread's state",
            refused: withModel("_ = RunLoop.Source.sendable(schedule: { _, _ in model.count += 1 }) { _ in }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.Source(schedule: { _, _ in model.count += 1 }) { _ in }")),
        Pair(
            "an observer for any thread and a thread's state",
            refused: withModel("_ = RunLoop.Observer.sendable(.all) { _, _ in model.count += 1 }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.Observer(.all) { _, _ in model.count += 1 }")),
        Pair(
            "a descriptor source for any thread and a thread's state",
            refused: withModel("_ = RunLoop.DescriptorSource.sendable(0) { _, _ in model.count += 1 }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.DescriptorSource(0) { _, _ in model.count += 1 }")),
        Pair(
            "a block of any thread and a thread's state",
            refused: withModel("loop.perform { model.count += 1 }"),
            error: notSendable,
            accepted: withModel("loop.performLocally { model.count += 1 }")),
        Pair(
            "a block of any thread for several modes and a thread's state",
            refused: withModel("loop.perform(in: [.default]) { model.count += 1 }"),
            error: notSendable,
            accepted: withModel("loop.performLocally(in: [.default]) { model.count += 1 }")),
        Pair(
            "a timer for any thread and a local variable",
            refused: "func use() { var count = 0; _ = RunLoop.Timer.sendable(.after(.zero)) { _ in count += 1 } }",
            error: "mutation of captured var 'count' in concurrently-executing code",
            accepted: "func use() { var count = 0; _ = RunLoop.Timer(.after(.zero)) { _ in count += 1 } }"),
        Pair(
            "a timer for any thread and the main actor's state",
            refused:
                "func use(_ screen: Screen) { _ = RunLoop.Timer.sendable(.after(.zero)) { _ in screen.title = \"\" } }",
            error: mainActor,
            accepted:
                "func use(_ screen: Screen) { _ = RunLoop.Timer.mainActor(.after(.zero)) { _ in screen.title = \"\" } }"
        ),
        Pair(
            "a block of any thread and the main actor's state",
            refused: "func use(_ screen: Screen) { RunLoop.main.perform { screen.title = \"\" } }",
            error: mainActor,
            accepted: "func use(_ screen: Screen) { RunLoop.performOnMainActor { screen.title = \"\" } }"),
        Pair(
            "a local timer made off the main actor and the main actor's state",
            refused: "func use(_ screen: Screen) { _ = RunLoop.Timer(.after(.zero)) { _ in screen.title = \"\" } }",
            error: "main actor-isolated property 'title' can not be mutated from a nonisolated context",
            accepted:
                "@MainActor func use(_ screen: Screen) { _ = RunLoop.Timer(.after(.zero)) { _ in screen.title = \"\" } }"
        ),
        Pair(
            "a main actor's timer and another thread's state",
            refused: withModel("_ = RunLoop.Timer.mainActor(.after(.zero)) { _ in model.count += 1 }; model.count = 1"),
            error: "model",
            accepted: withModel(
                "let screen: Screen? = nil; _ = RunLoop.Timer.mainActor(.after(.zero)) { _ in screen?.title = \"\" }; model.count = 1"
            )),
        Pair(
            "a class that keeps its source, and the source's closure",
            refused:
                "final class Door: Sendable { let source: RunLoop.Source; init() { source = .sendable { [weak self] _ in self?.open() } }; func open() {} }",
            error: "constant 'self.source' used before being initialized",
            accepted:
                "final class Door: Sendable { final class State: Sendable { func open() {} }; let state = State(); let source: RunLoop.Source; init() { source = .sendable { [state] _ in state.open() } } }"
        ),
        Pair(
            "a loop of one's own",
            refused: "let loop = RunLoop()",
            error: "'RunLoop' initializer is inaccessible due to 'package' protection level",
            accepted: "let loop = RunLoop.current"),
        Pair(
            "an addition that may be refused by the system",
            refused: "func use(_ loop: RunLoop, _ source: RunLoop.DescriptorSource) { loop.add(source, in: .default) }",
            error: "call can throw, but it is not marked with 'try'",
            accepted:
                "func use(_ loop: RunLoop, _ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) { try loop.add(source, in: .default) }"
        ),
    ]

    @Test(arguments: pairs) func `The compiler accepts a safe program and refuses its unsafe twin`(pair: Pair) throws {
        let compiler = try #require(Compiler())
        let accepted = compiler.check(Self.prelude + pair.accepted + "\n")
        #expect(accepted.status == 0, "\(accepted.text)")
        let refused = compiler.check(Self.prelude + pair.refused + "\n")
        #expect(refused.status != 0)
        #expect(refused.text.contains("error: "))
        #expect(refused.text.contains(pair.error), "\(refused.text)")
    }

    /// A call that must not compile, and what the compiler has to say of it.
    struct Refusal: CustomTestStringConvertible {
        let line: String
        let says: String

        init(_ line: String, _ says: String) {
            self.line = line
            self.says = says
        }

        var testDescription: String { line }
    }

    static let blocking: [Refusal] = [
        Refusal(
            "_ = RunLoop.current",
            "on the main actor the loop is RunLoop.main; elsewhere use a loop that you were given, such as thread.loop"),
        Refusal("loop.run()", "run the loop in a synchronous function"),
        Refusal("loop.run(in: .default, until: nil)", "run the loop in a synchronous function"),
        Refusal("loop.run(in: .default, for: .seconds(1))", "run the loop in a synchronous function"),
        Refusal("loop.runTurn()", "run the loop in a synchronous function"),
        Refusal("loop.runUntilIdle()", "run the loop in a synchronous function"),
        Refusal("_ = loop.isEmpty(in: .default)", "ask in a closure of perform(_:)"),
        Refusal("loop.performLocally {}", "use perform with a @Sendable closure, or performOnMainActor"),
        Refusal("loop.performLocally(in: [.default]) {}", "use perform with a @Sendable closure"),
        Refusal("loop.performLocally(after: .seconds(1)) {}", "use perform with a @Sendable closure"),
        Refusal("_ = try? loop.pollDescriptor", "call this in a synchronous function of the host's"),
        Refusal("loop.runReady()", "call this in a synchronous function of the host's"),
        Refusal("_ = loop.prepareToPoll()", "call this in a synchronous function of the host's"),
    ]

    /// In one program each, the refused lines in an async function and then in a synchronous one.
    @Test func `Blocking and thread-bound calls are unavailable in async functions`() throws {
        let compiler = try #require(Compiler())
        let body = Self.blocking.map(\.line).joined(separator: "\n")
        let accepted = compiler.check("import RunLoops\nfunc use(_ loop: RunLoop) {\n\(body)\n}\n")
        #expect(accepted.status == 0, "\(accepted.text)")
        let refused = compiler.check(
            "import RunLoops\nfunc use(_ loop: RunLoop) async {\n\(body)\n}\n", options: "-warnings-as-errors")
        #expect(refused.status != 0)
        for (index, refusal) in Self.blocking.enumerated() {
            let errors = refused.errors(inLine: index + 3)
            #expect(errors.contains { $0.contains("unavailable from asynchronous contexts; ") }, "\(refusal.line)")
            #expect(errors.contains { $0.contains(refusal.says) }, "\(refusal.line): \(errors)")
        }
    }

    /// What blocks, of the other libraries: all that is marked `noasync` there.
    static let blockingElsewhere: [Refusal] = [
        Refusal("try loop.performAndWait {}", "await result(in:of:) of RunLoopsConcurrency"),
        Refusal("try thread.performAndWait {}", "blocks a thread of Swift's pool: await result(of:)."),
        Refusal("thread.join()", "await ended(), or join() in a synchronous function"),
        Refusal("_ = try sender.request(message)", "blocks a thread of Swift's pool: await request(_:on:within:in:)."),
        Refusal("loop.run(until: task)", "An async function can wait for the task itself: await task.value"),
        Refusal("try RunLoop.TestThread.with { _ in }", "make it a synchronous function"),
        Refusal("try testThread.sync { _ in }", "await result(in:of:) of RunLoopsConcurrency"),
        // Last: it does not return.
        Refusal("RunLoop.runMain {}", "make RunLoop.adoptMain() its first line"),
    ]

    @Test(.enabled(if: Compiler()?.has(["RunLoopsKit", "RunLoopsPorts"]) ?? false, "they were not built"))
    func `Blocking calls of the other libraries are unavailable in async functions`() throws {
        let compiler = try #require(Compiler())
        let body = Self.blockingElsewhere.map(\.line).joined(separator: "\n")
        func program(_ effects: String) -> String {
            """
            import RunLoops; import RunLoopsConcurrency; import RunLoopsKit; import RunLoopsPorts; import RunLoopsTesting
            func use(_ loop: RunLoop, _ thread: RunLoopThread, _ testThread: RunLoop.TestThread,
                     _ sender: RunLoop.MessagePort.Sender, _ message: RunLoop.MessagePort.Message,
                     _ task: Task<Void, Never>) \(effects) {
            \(body)
            }

            """
        }
        let accepted = compiler.check(program("throws"))
        #expect(accepted.status == 0, "\(accepted.text)")
        let refused = compiler.check(program("async throws"), options: "-warnings-as-errors")
        #expect(refused.status != 0)
        for (index, refusal) in Self.blockingElsewhere.enumerated() {
            let errors = refused.errors(inLine: index + 5)
            #expect(errors.contains { $0.contains("unavailable from asynchronous contexts; ") }, "\(refusal.line)")
            #expect(errors.contains { $0.contains(refusal.says) }, "\(refusal.line): \(errors)")
        }
    }

    @Test(.enabled(if: Compiler()?.has(["RunLoopsConcurrency"]) ?? false, "it was not built"))
    func `The package leaves the name RunLoopExecutor to the standard library`() throws {
        let compiler = try #require(Compiler())
        // As the standard library will, another module declares it; a declaration here would hide it or clash.
        func program(_ name: String) -> String {
            "import RunLoops; import RunLoopsConcurrency\nfunc use(_ executor: \(name)) -> RunLoop { executor.loop }\n"
        }
        let ours = compiler.check(program("RunLoop.Executor"))
        #expect(ours.status == 0, "\(ours.text)")
        let free = compiler.check(program("RunLoopExecutor"))
        #expect(free.errors(inLine: 2).contains { $0.contains("cannot find type 'RunLoopExecutor'") }, "\(free.text)")
    }

    /// What *Beside Foundation* says of a file that imports both modules and does not say which `RunLoop` it means.
    @Test(arguments: [
        ("let loop: RunLoop? = nil; _ = loop", true), ("RunLoop.main.run()", true),
        ("let loop = RunLoop.main; _ = loop", true),
        ("RunLoop.current.add(Timer(timeInterval: 1, repeats: true) { _ in }, forMode: .default)", false),
        ("RunLoop.main.perform { print(1) }", false), ("RunLoop.main.run(until: Date())", false),
        ("_ = RunLoop.main.run(mode: .default, before: Date())", false),
        ("RunLoop.main.add(RunLoop.Timer(.after(.zero)) { _ in }, in: .common)", false),
        ("RunLoop.main.run(in: .default, until: nil)", false),
    ])
    func `If Foundation is imported too, only ambiguous uses of RunLoop do not compile`(line: String, isRefused: Bool)
        throws
    {
        let compiler = try #require(Compiler())
        let output = compiler.check("import Foundation\nimport RunLoops\nfunc use() { \(line) }\n")
        #expect((output.status != 0) == isRefused, "\(output.text)")
        if isRefused { #expect(output.text.contains("ambiguous")) }
    }

    /// A line that needs a trait, and the trait.
    struct TraitUse: CustomTestStringConvertible {
        let library: String
        let trait: String
        let line: String

        var testDescription: String { line }
    }

    static let traitUses: [TraitUse] = [
        TraitUse(
            library: "RunLoopsServiceLifecycle", trait: "ServiceLifecycle",
            line: "let service = RunLoopService(on: .main) { _ in } stop: { _ in }"),
        TraitUse(
            library: "RunLoopsServiceLifecycle", trait: "ServiceLifecycle",
            line: "let service = RunLoopService(on: loop, in: .default) { loop in loop.stop() }"),
        TraitUse(library: "RunLoopsLog", trait: "Log", line: "let log = LoopLog(Logger())"),
        TraitUse(
            library: "RunLoopsLog", trait: "Log",
            line: "let log = LoopLog(Logger(), limits: .frame, slowLevel: .error, runLevel: nil)"),
        TraitUse(library: "RunLoopsMetrics", trait: "Metrics", line: "let metrics = LoopMetrics(every: .seconds(10))"),
        TraitUse(
            library: "RunLoopsMetrics", trait: "Metrics",
            line: "let metrics = LoopMetrics(every: nil, factory: Logger())"),
    ]

    /// Where the tests were built with the trait, there is nothing to see.
    @Test(arguments: traitUses) func `A call that needs a disabled trait is refused with an error that names the trait`(
        use: TraitUse
    ) throws {
        let compiler = try #require(Compiler())
        guard compiler.has([use.library]), !Self.traits.contains(use.trait) else { return }
        let output = compiler.check(
            """
            import RunLoops
            import \(use.library)
            struct Logger {}
            func use(_ loop: RunLoop) throws {
            \(use.line)
            }

            """)
        #expect(output.status != 0)
        let errors = output.errors(inLine: 5)
        #expect(errors.count == 1, "\(output.text)")
        let remedy = "Enable the trait \(use.trait) of swift-run-loops: .package(url: …, traits: [\"\(use.trait)\"])"
        #expect(errors.contains { $0.contains(remedy) }, "\(output.text)")
    }

    /// The traits that this was built with.
    private static var traits: Set<String> {
        var traits: Set<String> = []
        #if ServiceLifecycle
        traits.insert("ServiceLifecycle")
        #endif
        #if Log
        traits.insert("Log")
        #endif
        #if Metrics
        traits.insert("Metrics")
        #endif
        return traits
    }

    static let spellings: [Refusal] = [
        Refusal("loop.add(timer, forMode: .default)", "'add(_:forMode:)' has been renamed to 'add(_:in:)'"),
        Refusal("loop.perform(inModes: [.default]) {}", "has been renamed to 'perform(in:_:)'"),
        Refusal("loop.run(mode: .default, before: date)", "Use run(in:for:returnsAfterSource: true)"),
        Refusal("loop.run(until: date)", "Use run(in: .default, for:) with a Duration"),
        Refusal(
            "_ = RunLoop.Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in }",
            "and add it to a loop: add(_:in:)"),
        Refusal("_ = timer.fireDate", "'fireDate' has been renamed to 'deadline'"),
        Refusal("timer.fireDate = date", "'fireDate' has been renamed to 'deadline'"),
    ]

    @Test func `A call in Foundation's spelling is refused with an error that names this package's spelling`() throws {
        let compiler = try #require(Compiler())
        let body = Self.spellings.map(\.line).joined(separator: "\n")
        let refused = compiler.check(
            """
            import RunLoops
            struct Date {}
            func use(_ loop: RunLoop, _ timer: RunLoop.Timer, _ date: Date) {
            \(body)
            }

            """)
        #expect(refused.status != 0)
        for (index, spelling) in Self.spellings.enumerated() {
            let errors = refused.errors(inLine: index + 4)
            #expect(errors.contains { $0.contains(spelling.says) }, "\(spelling.line): \(errors)")
        }
    }
}

extension Compiler.Output {
    /// What the compiler says of one line of the program.
    func errors(inLine line: Int) -> [Substring] {
        text.split(separator: "\n").filter { $0.contains("main.swift:\(line):") && $0.contains(": error: ") }
    }
}

import RunLoopsTestSupport
import Testing

/// What must not compile, each beside a twin that does.
@Suite(
    .timeLimit(.minutes(10)),
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
            "a port source for any thread and a thread's state",
            refused: withModel("_ = RunLoop.PortSource.sendable(descriptor: 0) { _, _ in model.count += 1 }"),
            error: notSendable,
            accepted: withModel("_ = RunLoop.PortSource(descriptor: 0) { _, _ in model.count += 1 }")),
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
            "a loop of one's own",
            refused: "let loop = RunLoop()",
            error: "'RunLoop' initializer is inaccessible due to 'package' protection level",
            accepted: "let loop = RunLoop.current"),
        Pair(
            "an addition that may be refused by the system",
            refused: "func use(_ loop: RunLoop, _ port: RunLoop.PortSource) { loop.add(port, in: .default) }",
            error: "call can throw, but it is not marked with 'try'",
            accepted:
                "func use(_ loop: RunLoop, _ port: RunLoop.PortSource) throws(RunLoop.SystemCallError) { try loop.add(port, in: .default) }"
        ),
    ]

    @Test(arguments: pairs) func `The compiler keeps apart`(pair: Pair) throws {
        let compiler = try #require(Compiler())
        let accepted = compiler.check(Self.prelude + pair.accepted + "\n")
        #expect(accepted.status == 0, "\(accepted.text)")
        let refused = compiler.check(Self.prelude + pair.refused + "\n")
        #expect(refused.status != 0)
        #expect(refused.text.contains("error: "))
        #expect(refused.text.contains(pair.error), "\(refused.text)")
    }
}

import RunLoopsTestSupport
import Testing

/// The main thread under an async main, seen in processes of their own.
@Suite(.timeLimit(.minutes(2))) struct AsyncMainProcessTests {
    private static let everything = ["block", "last words", "queue", "task", "timer"]

    @Test(arguments: ["threads", "run main threads"])
    func `Every part of main runs on the main thread, with the main loop under it`(scene: String) {
        let output = Programs.play(scene)
        #expect(
            output.lines == [
                "begins", "after a sleep", "after a yield", "after a detached task", "after an actor",
                "after the main queue", "after a timer", "source", "current is main: true, in kCFRunLoopDefaultMode",
                "at exit",
            ])
        #expect(output.exitStatus == 0)
    }

    @Test(arguments: [("return", 0), ("run main", 0), ("exit", 3), ("exit elsewhere", 4), ("run main error", 1)])
    func `Nothing is lost when the program ends`(scene: String, status: CInt) {
        let output = Programs.play(scene)
        #expect(output.lines.dropLast().sorted() == Self.everything.map { $0[...] })
        #expect(output.lines.last == "at exit")
        #expect(output.exitStatus == status)
    }

    @Test func `An error ends an async main as it does without a loop`() {
        let output = Programs.play("error", withErrors: true)
        for words in Self.everything { #expect(output.lines.contains(words[...])) }
        #expect(output.text.contains("Error raised at top level"))
        #expect(output.text.contains("Refusal"))
        #expect(output.exitStatus != 0)
        let said = Programs.play("run main error", withErrors: true)
        #expect(said.lines.contains("Error: Refusal()"))
    }

    @Test func `A main that never waits ends as well`() {
        let output = Programs.play("at once")
        #expect(output.lines == ["never suspended", "at exit"])
        #expect(output.exitStatus == 0)
    }

    @Test func `A stop of the main loop does not end the program`() {
        #expect(Programs.play("stop").lines == ["still there", "at exit"])
    }

    @Test func `A run nested in a callout serves the main actor`() {
        #expect(
            Programs.play("nested").lines == [
                "task in the nested run", "nested: stopped", "after the nested run", "at exit",
            ])
    }

    @Test func `Adopting too late is refused`() {
        let output = Programs.play("late", withErrors: true)
        #expect(output.text.contains("not on the main thread: make it the first line of main"))
        #expect(output.exitStatus != 0)
    }
}

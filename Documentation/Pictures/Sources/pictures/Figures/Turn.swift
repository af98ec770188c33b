// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The ring of the turn, and the ring with each step marked.
let turnPictures = [turn(name: "turn")] + steps.map { turn(name: "turn-step-\($0.number)", marked: $0) }

/// A step of the turn, by its number in Documentation/Specification.md.
struct Step: Sendable {
    var number: Int
    var kind: Kind
    var name: String
    var notes: [String] = []
    /// What happens, for the picture in which the step is marked.
    var says: [String]
}

private let steps = [
    Step(number: 1, kind: .told, name: "entry", says: ["once a run, before the first turn"]),
    Step(number: 2, kind: .told, name: "beforeTimers", says: ["observers are called; timers wait for step 9"]),
    Step(number: 3, kind: .told, name: "beforeSources", says: ["observers are called; signalled sources are next"]),
    Step(number: 4, kind: .work, name: "blocks", says: ["blocks for the mode of the run, as they were added"]),
    Step(
        number: 5, kind: .work, name: "signalled sources", notes: ["then blocks again"],
        says: ["sources that a thread has signalled, in order;", "if there was one, the turn only polls"]),
    Step(
        number: 6, kind: .look, name: "main queue?", notes: ["main loop only"],
        says: ["work in the main queue is done at once, in step 9,", "unless the turn before did some"]),
    Step(
        number: 7, kind: .sleep, name: "beforeWaiting", notes: ["then it sleeps"],
        says: ["observers are called, then the thread sleeps until", "something wakes it"]),
    Step(number: 8, kind: .told, name: "afterWaiting", says: ["the thread is awake; observers are called"]),
    Step(
        number: 9, kind: .work, name: "what woke it", notes: ["timers, main queue", "or one descriptor"],
        says: ["timers that are due, or the main queue,", "or one ready descriptor"]),
    Step(
        number: 10, kind: .work, name: "blocks", notes: ["then: a result?"],
        says: ["blocks; then the run has a result and ends,", "or the next turn begins"]),
    Step(number: 11, kind: .told, name: "exit", says: ["once a run, after the last turn"]),
]

/// The name in a line for each word if it has no room in one, and the notes.
private func boxLines(_ step: Step) -> [Line] {
    let name = Line.name(step.name)
    let names = name.width > 150 ? step.name.split(separator: " ").map { Line.name(String($0)) } : [name]
    return names + step.notes.map(Line.note)
}

/// The steps in a ring, down on the left and up on the right.
func turn(name: String, marked: Step? = nil) -> Picture {
    func box(_ number: Int) -> Block {
        let step = steps[number - 1]
        let isMarked = marked?.number == number
        return .box(
            "\(number)", marked == nil || isMarked ? step.kind : .plain,
            boxLines(step), number: number, marked: isMarked)
    }
    let middle = 168.0
    func line(_ left: Int, _ right: Int?, _ between: Block? = nil) -> Block {
        .row(
            [
                box(left), between.map { .column([$0, .space(width: middle)], gap: 0) } ?? .space(width: middle),
                right.map(box) ?? .space(grows: true),
            ], gap: 0)
    }
    var lines = [
        line(1, 11), line(2, 10), line(3, nil, marked == nil ? .legend([.told, .work]) : nil),
        line(4, nil, marked == nil ? .legend([.look, .sleep]) : nil), line(5, nil), line(6, 9), line(7, 8),
    ]
    var title = "One turn of the loop"
    var description =
        "After entry (1) each turn goes through beforeTimers (2), beforeSources (3), blocks (4), signalled sources (5), the "
        + "main queue (6), beforeWaiting and the sleep (7), afterWaiting (8), what woke it (9) and blocks again (10). Then the "
        + "next turn begins with 2, or the run ends with exit (11). A short cut leads from 6 to 9, for work of the main queue "
        + "and for turns that only poll."
    if let marked {
        title += ": step \(marked.number), \(marked.name)"
        description = "Step \(marked.number) is marked: \(marked.says.joined(separator: " ")). " + description
        var says = marked.says.map(Line.note)
        if says.count == 1 { says.append(.note(" ")) }
        lines.append(.text([.title("\(marked.number): \(marked.name)")] + says))
    }
    var arrows = zip(1...6, 2...7).map { Arrow(from: "\($0)", to: "\($1)") }
    arrows += [
        Arrow(from: "7", to: "8", label: ["it wakes"]), Arrow(from: "8", to: "9"), Arrow(from: "9", to: "10"),
        Arrow(from: "10", to: "2", label: ["no result:"], under: ["the next turn"]),
        Arrow(from: "10", to: "11", label: ["a result"]),
        Arrow(
            from: "6", to: "9", label: ["it has work, or", "the turn only polls:"], under: ["no sleep"], isDashed: true),
    ]
    return Picture(name: name, title: title, description: description, content: .column(lines, gap: 28), arrows: arrows)
}

// A timer ticks while the program waits for lines of its standard input. A pipe stands for the keyboard.

import Glibc
import RunLoops
import RunLoopsEvents

@main struct App {
    static func main() throws {
        let keyboard = try Keyboard()
        let loop = RunLoop.current

        var ticks = 0
        let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in
            ticks += 1
            print("tick \(ticks)")
            // Somebody types while the timer goes on.
            if ticks == 2 { keyboard.type("hello\n") }
            if ticks == 4 { keyboard.type("two lines\nat once\n") }
            if ticks == 5 { keyboard.end() }
        }
        loop.add(timer, in: .default)

        let input = InputReader(.standardInput, as: .lines) { _, event in
            switch event {
            case .received(let lines):
                for line in lines { print("you typed: \(line)") }
            case .ended:
                print("the input has ended")
                loop.stop()
            case .failed(let error):
                print("the input cannot be read: \(error)")
                loop.stop()
            }
        }
        try loop.add(input, in: .default)
        loop.run()
    }
}

/// A pipe in place of standard input, so that the program does the same with any input.
struct Keyboard {
    private let descriptor: CInt

    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0, dup2(ends[0], STDIN_FILENO) == STDIN_FILENO else { throw NoPipe(number: errno) }
        close(ends[0])
        descriptor = ends[1]
    }

    func type(_ text: String) { _ = text.withCString { write(descriptor, $0, strlen($0)) } }
    func end() { close(descriptor) }

    struct NoPipe: Error { let number: CInt }
}

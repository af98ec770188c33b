// Reads single keys beside a timer. A terminal of the program's own stands for the user's, and a timer for the user.

import Glibc
import RunLoops
import RunLoopsTerminal

@main struct App {
    @MainActor static func main() throws {
        let keyboard = try Keyboard()
        let terminal = try RawTerminal(descriptor: keyboard.terminal)

        terminal.eventHandler = { event in
            guard case .key(let press) = event else { return }
            print("\(press.key), modifiers \(press.modifiers.rawValue)")
            if press.key == .character("q") {
                terminal.close()
                RunLoop.main.stop()
            }
        }

        var typed = ["a", "é", "\u{1B}[A", "\u{1B}[1;5C", "\r", "q"][...]
        let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in
            if let bytes = typed.popFirst() { keyboard.type(bytes) }
        }
        RunLoop.main.add(timer, in: .common)
        RunLoop.main.run()
    }
}

/// A terminal in place of the user's, so that the program does the same everywhere.
struct Keyboard {
    /// The side that the program has.
    let terminal: CInt
    private let user: CInt

    init() throws {
        user = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import: unlocks the other side, and asks its number.
        var (isLocked, number): (CInt, CUnsignedInt) = (0, 0)
        guard ioctl(user, 0x4004_5431 as UInt, &isLocked) == 0, ioctl(user, 0x8004_5430 as UInt, &number) == 0 else {
            throw NoTerminal(number: errno)
        }
        terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    }

    func type(_ bytes: String) { _ = bytes.withCString { write(user, $0, strlen($0)) } }

    struct NoTerminal: Error { let number: CInt }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import LoopUITerminal
import RunLoops
import RunLoopsEvents

/// Shows what has come: keys, touches, pasted text, the size.
///
/// `x` does what the scene says, `q` ends the program.
final class Board: View {
    private var keys = 0
    private var lastKey = "none"
    private var moves = 0
    private var touch = "none"
    private var wheel = 0
    private var pasted = 0
    private var pasteSum: UInt64 = 0
    private var layouts = 0
    fileprivate var ticks = 0
    /// How a child has ended.
    fileprivate var note = ""
    /// A text that leads to a page.
    fileprivate var page = ""
    private let act: () -> Void

    init(act: @escaping () -> Void) {
        self.act = act
        super.init()
    }

    override var canBecomeFirstResponder: Bool { true }

    override func layoutSubviews() { layouts += 1 }

    override func draw(in canvas: inout Canvas) {
        canvas.border(canvas.bounds, .rounded, style: Style(.cyan))
        let lines = [
            "keys \(keys), last \(lastKey)", "touch \(touch)", "wheel \(wheel)", "pasted \(pasted)",
            "size \(Int(canvas.size.width)) \(Int(canvas.size.height))", "日本 é ✓",
        ]
        canvas.write(note, at: Point(2, 7))
        canvas.write(
            page, at: Point(2, 8),
            style: Style(.blue, on: .clear, .underline, link: Link("https://example.org/page one")))
        if ticks > 0 {
            let letter = Character(Unicode.Scalar(UInt8(0x41 + ticks % 26)))
            canvas.fill(Rect(1, 7, canvas.size.width - 2, 12), with: letter, style: .plain)
            canvas.write("ticks \(ticks)", at: Point(2, 20))
        }
        for (row, line) in lines.enumerated() { canvas.write(line + ".", at: Point(2, Double(row + 1))) }
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            keys += 1
            // Reflection, which finds the names of the others, takes longer than everything else that a key is the cause of.
            lastKey =
                if case .character(let character) = press.key { "character(\"\(character)\")" } else { "\(press.key)" }
            if press.key == .character("x") { act() }
            if press.key == .character("q") { Application.current?.terminate() }
        }
        setNeedsDisplay()
        super.pressesBegan(presses, with: event)
    }

    private func show(_ touches: Set<Touch>, _ word: String) {
        for one in touches {
            let place = one.location(in: self)
            touch = "\(word) \(Int(place.x)) \(Int(place.y))"
        }
        setNeedsDisplay()
    }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { show(touches, "began") }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { show(touches, "ended") }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {
        moves += 1
        show(touches, "moved")
    }

    override func wheelTurned(_ wheel: Wheel, with event: Event?) {
        self.wheel += Int(wheel.notches.y)
        setNeedsDisplay()
    }

    override func pasted(_ paste: Paste, with event: Event?) {
        pasted += paste.text.utf8.count
        for byte in paste.text.utf8 { pasteSum = pasteSum &* 31 &+ UInt64(byte) }
        setNeedsDisplay()
    }

    var report: [String] {
        ["touch \(touch)", "pasted \(pasted)", "sum \(pasteSum)", "layouts \(layouts)", "keys \(keys)"]
    }
}

final class Program: ApplicationDelegate {
    private let scene = CommandLine.arguments.dropFirst().first ?? "keys"
    private let reportPath = CommandLine.arguments.dropFirst(2).first
    private var board: Board?
    private var memoryAtLaunch = 0
    private var log: [String] = []

    func applicationDidFinishLaunching(_ application: Application) {
        let scene = scene
        let board = Board { [weak self] in
            switch scene {
            case "release": self?.release()
            case "notify": self?.notify()
            case "attention": self?.askForAttention()
            case "notify-released": self?.release { self?.notify() }
            case "work": self?.work()
            default: Self.act(scene)
            }
        }
        let controller = ViewController()
        controller.title = "Board"
        controller.view = board
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        board.becomeFirstResponder()
        self.board = board
        if scene == "link" { board.page = "the page" }
        if scene == "tick" { tick(board, application) }
        if scene == "hurry" { (application.display as? Terminal)?.timing.sequenceTimeout = .milliseconds(100) }
        if scene == "picture" {
            let view = ImageView(picture: Picture(width: 2, height: 2, bytes: [UInt8](repeating: 255, count: 16)))
            view.frame = Rect(20, 2, 2, 1)
            board.addSubview(view)
        }
        memoryAtLaunch = Self.memory("VmRSS")
    }

    /// Another picture all the time; reports when the first one is refused.
    private func tick(_ board: Board, _ application: Application) {
        var isReported = false
        let timer = RunLoop.Timer(.every(.milliseconds(5))) { [self] _ in
            board.ticks += 1
            board.setNeedsDisplay()
            if application.commit.counts.refusals > 0, !isReported {
                isReported = true
                report(application)
            }
        }
        application.loop.add(timer, in: .common)
    }

    /// Works until the program is ended.
    private func work() {
        board?.note = "working"
        board?.setNeedsDisplay()
        while let application = Application.current, application.receiveSystemEvents() { usleep(2000) }
    }

    private func notify() {
        let isShown = Application.current?.presentNotification("Built: Käse\u{1B}]2;x\u{7}") ?? false
        board?.note = "notified \(isShown)"
        board?.setNeedsDisplay()
    }

    private func askForAttention() {
        let isAsked = Application.current?.requestUserAttention() ?? false
        board?.note = "asked \(isAsked)"
        board?.setNeedsDisplay()
    }

    /// Gives the terminal to a shell's commands.
    private func release(first: @escaping () -> Void = {}) {
        print("printed before")
        Task { [self] in
            guard let application = Application.current else { return }
            let script = getenv("SCRIPT").map { String(cString: $0) } ?? ""
            let exit = try await application.withTerminalReleased {
                first()
                let child = try Child.spawn(.path("/bin/sh"), arguments: ["-c", script])
                return try await application.loop.exit(of: child)
            }
            board?.note = "\(exit.status)"
            board?.setNeedsDisplay()
        }
    }

    func applicationDidBecomeActive(_ application: Application) { log.append("active") }
    func applicationWillResignActive(_ application: Application) { log.append("resign") }
    func applicationDidEnterBackground(_ application: Application) { log.append("background") }
    func applicationWillEnterForeground(_ application: Application) { log.append("foreground") }

    func applicationWillTerminate(_ application: Application) {
        log.append("terminate")
        report(application)
    }

    private func report(_ application: Application) {
        guard let reportPath, let board else { return }
        let counts = application.commit.counts
        var status = stat()
        fstat(STDOUT_FILENO, &status)
        let lines =
            board.report + [
                "frames \(counts.frames)", "refusals \(counts.refusals)",
                "kept \(status.st_blocks / 2)", "grown \(Self.memory("VmHWM") - memoryAtLaunch)",
                "states " + log.joined(separator: ","),
            ]
            + application.loop.detailedDescription().split(separator: "\n").map { "loop \($0)" }
        guard let file = fopen(reportPath, "w") else { fatalError("\(reportPath): error \(errno)") }
        for line in lines { fputs(line + "\n", file) }
        fclose(file)
    }

    /// Of this process, in KiB.
    private static func memory(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(name + ":") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }

    /// Calls itself until the stack is full.
    @inline(never)
    /// Overflows the stack. Each frame is large, because the thread sanitizer has room for 65,536 frames of its own, and does not
    /// notice the end of it: 100 bytes a frame would overflow that first, and no handler runs then.
    private static func deeper(_ depth: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { room in
            room.initialize(repeating: depth)
            return deeper(depth &+ 1) &+ room[depth & 511]
        }
    }

    private static func act(_ scene: String) {
        switch scene {
        case "copy": Pasteboard.general.text = "Käse \u{1B}]52;c;!\u{7} für 3 €\nund 🧀"
        case "exit": exit(3)
        case "fatalError": fatalError("as asked")
        case "print":
            print("as printed")
            fflush(nil)
        case "flood":
            let line = String(repeating: "0123456789abcde\n", count: 4096)
            for _ in 0..<1024 { print(line, terminator: "") }
            print("the last line")
            fflush(nil)
        case "buffer": print("as printed, and not flushed")
        case "child": _ = system("yes 'a line' | head -c 1000000; echo \"the child's last line\"")
        case "trap":
            let numbers = [Int](CommandLine.arguments.indices)
            print(numbers[numbers.count])
        case "abort": abort()
        case "overflow": print(deeper(1))
        case "segv": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
        default: raise(CInt(scene) ?? 0)
        }
    }
}

/// Writes titles instead of pictures: how the terminal shows them, and how many cells of them have changed.
final class Titles: PictureWriter {
    func bytes(for frame: Frame, since old: CellGrid?, by ability: PictureAbility) -> [UInt8] {
        let cells = frame.pictures.flatMap { $0.parts(in: frame.cells, changedSince: old) }
        let count = cells.reduce(0) { $0 + $1.columns.count * $1.rows.count }
        let size = ability.cell.map { "\(Int($0.width)) by \(Int($0.height))" } ?? "unknown"
        return Array("\u{1B}]2;\(ability.way) \(size), \(count) cells\u{1B}\\".utf8)
    }
}

if CommandLine.arguments.dropFirst().first == "editor", let text = CommandLine.arguments.last {
    playEditor(text)
    exit(0)
}
if CommandLine.arguments.dropFirst().first == "part" {
    Application.main(PartProgram.self, rows: 3)
    exit(0)
}
Application.main(Program.self, pictures: CommandLine.arguments.dropFirst().first == "picture" ? Titles() : nil)

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The descriptors of a child, and what this process keeps open until the child has them.
struct SpawnStreams {
    private(set) var moves: [rl_descriptor_move] = []
    private var ours: [Descriptor] = []

    private mutating func give(_ descriptor: CInt, as number: CInt) {
        moves.append(rl_descriptor_move(from: descriptor, to: number, spare: -1))
    }

    mutating func give(_ descriptors: [CInt: CInt]) {
        for (number, descriptor) in descriptors {
            require(
                number > STDERR_FILENO,
                "A child was given the descriptor \(number) by number: name it as input, output or error.")
            give(descriptor, as: number)
        }
    }

    private mutating func give(_ descriptor: Descriptor, as number: CInt) {
        ours.append(descriptor)
        give(descriptor.number, as: number)
    }

    mutating func take(_ input: Child.Input) throws(Child.SpawnError) -> RunLoop.File? {
        switch input {
        case .inherited: inherit(STDIN_FILENO)
        case .null: try open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        case .file(let path): try open(path, O_RDONLY, as: STDIN_FILENO)
        case .descriptor(let descriptor): give(descriptor, as: STDIN_FILENO)
        case .pipe: return try makePipe(as: STDIN_FILENO)
        }
        return nil
    }

    mutating func take(_ output: Child.Output, as number: CInt) throws(Child.SpawnError) -> RunLoop.File? {
        switch output {
        case .inherited: inherit(number)
        case .null: try open("/dev/null", O_WRONLY, as: number)
        case .file(let path, let appending):
            try open(path, O_WRONLY | O_CREAT | (appending ? O_APPEND : O_TRUNC), as: number)
        case .descriptor(let descriptor): give(descriptor, as: number)
        case .pipe: return try makePipe(as: number)
        case .combinedWithOutput:
            require(
                number == STDERR_FILENO, "The output of a child was combined with itself: combine its error with it.")
            if let output = moves.first(where: { $0.to == STDOUT_FILENO }) { give(output.from, as: number) }
        }
        return nil
    }

    /// A stream that this process has closed is closed in the child, too.
    private mutating func inherit(_ number: CInt) {
        if rl_is_open(number) { give(number, as: number) }
    }

    private mutating func open(_ path: String, _ flags: CInt, as number: CInt) throws(Child.SpawnError) {
        let opened = SystemText(path)?.withCString { rl_open($0, flags, 0o666) } ?? -EINVAL
        if opened < 0 { throw Child.SpawnError(.open, path, code: -opened) }
        give(Descriptor(opened), as: number)
    }

    /// The child's side is all three streams.
    mutating func makeTerminal(_ size: Child.Terminal.Size) throws(Child.SpawnError) -> Child.Terminal {
        var (size, ends, number): (rl_terminal_size, [CInt], CInt) = (size.systemSize, [-1, -1], 0)
        let made = rl_terminal_create(&size, &ends, &number)
        if made < 0 { throw Child.SpawnError(.terminal, "/dev/ptmx", code: -made) }
        give(Descriptor(ends[1]), as: STDIN_FILENO)
        for stream in [STDOUT_FILENO, STDERR_FILENO] { give(ends[1], as: stream) }
        return Child.Terminal(Descriptor(ends[0]), number: number)
    }

    /// Programs expect blocking streams; this process's end does not block.
    private mutating func makePipe(as number: CInt) throws(Child.SpawnError) -> RunLoop.File {
        var ends: [CInt] = [-1, -1]
        let made = rl_blocking_pipe(&ends)
        if made < 0 { throw Child.SpawnError(.pipe, "\(number)", code: -made) }
        let isInput = number == STDIN_FILENO
        let (kept, given) = isInput ? (ends[1], ends[0]) : (ends[0], ends[1])
        // Of an open descriptor, the kernel refuses neither.
        _ = rl_make_nonblocking(kept)
        give(Descriptor(given), as: number)
        return RunLoop.File(Descriptor(kept))
    }
}

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import CLoopUIXCB
import Glibc
import RunLoopsTestSupport
import Testing

/// A process whose output is read line by line.
final class OtherProcess {
    let identifier: pid_t
    private let command: String
    private let output: CInt
    /// What was read and is no line yet that somebody wanted.
    private var bytes: ArraySlice<UInt8> = []
    private var isOver = false

    struct Missing: Error {
        let what: String
    }

    /// Starts a command of the shell.
    init(_ command: String) throws {
        self.command = command
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw Missing(what: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        // The threads that tests run on block most signals, and children inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ["sh", "-c", command]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        var number: pid_t = 0
        let result = posix_spawn(&number, "/bin/sh", &actions, &attributes, &arguments, environ)
        for argument in arguments { free(argument) }
        posix_spawnattr_destroy(&attributes)
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        identifier = number
        output = ends[0]
        guard result == 0 else {
            isOver = true
            throw Missing(what: command)
        }
    }

    deinit {
        if !isOver {
            kill(identifier, SIGKILL)
            waitpid(identifier, nil, 0)
        }
        close(output)
    }

    /// The next line, as soon as it is there; `nil` at the end.
    ///
    /// A process that writes nothing for two minutes is killed, which is an issue of the test.
    func line() -> String? {
        while true {
            if let end = bytes.firstIndex(of: 10) {
                defer { bytes = bytes[(end + 1)...] }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&wanted, 1, 120_000) == 0 {
                Issue.record("nothing was written for two minutes by: \(command)")
                kill(identifier, SIGKILL)
            }
            let more = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = max(0, read(output, buffer.baseAddress, buffer.count))
            }
            if more.isEmpty {
                defer { bytes = [] }
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
            bytes += more
        }
    }

    /// The lines up to the first that begins so, which is the last of them.
    func lines(to prefix: String) throws -> [String] {
        var lines: [String] = []
        while let line = line() {
            lines.append(line)
            if line.hasPrefix(prefix) { return lines }
        }
        throw Missing(what: "\(prefix), after \(lines)")
    }

    /// So many lines that are wanted, among at most a thousand others.
    func lines(_ count: Int, where isWanted: (String) -> Bool = { _ in true }) throws -> [String] {
        var lines: [String] = []
        for _ in 0..<(count + 1000) where lines.count < count {
            guard let line = line() else { throw Missing(what: "line of \(count), after \(lines)") }
            if isWanted(line) { lines.append(line) }
        }
        if lines.count < count { throw Missing(what: "line of \(count), after \(lines) and a thousand others") }
        return lines
    }

    /// The lines up to the end, and how it has ended, as `wait` says it.
    func end() -> (lines: [String], status: CInt) {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        var status: CInt = 0
        waitpid(identifier, &status, 0)
        isOver = true
        return (lines, status)
    }
}

/// An X server that nobody sees, with one program on it.
final class Screen {
    static let isThere = ["Xvfb", "xdotool"].allSatisfy { system("command -v \($0) >/dev/null") == 0 }

    let server: OtherProcess
    let name: String
    let program: OtherProcess
    private(set) var window = ""

    /// Starts both, and waits for the program's window with the first frame.
    init(_ scene: String) throws {
        server = try OtherProcess("exec Xvfb -displayfd 1 -screen 0 800x600x24 -nolisten tcp 2>/dev/null")
        name = ":" + (try server.lines(1)[0])
        let path = try #require(BuiltPrograms.path("LoopUIWindowPrograms"))
        program = try OtherProcess("DISPLAY=\(name) LC_ALL=C.UTF-8 exec '\(path)' \(scene)")
        let lines = try program.lines(to: "shown")
        #expect(lines.first == "active")
        window = try xdotool("search --sync --onlyvisible --name 'Scene \(scene) ☀'")
    }

    /// Runs xdotool to its end.
    @discardableResult
    func xdotool(_ arguments: String) throws -> String {
        let process = try OtherProcess("DISPLAY=\(name) LC_ALL=C.UTF-8 exec xdotool \(arguments)")
        let (lines, status) = process.end()
        if status != 0 { throw OtherProcess.Missing(what: "xdotool \(arguments): \(status)") }
        return lines.joined(separator: "\n")
    }

    /// Gives the keys to the window; returns when the program has them.
    func focus() throws { try xdotool("windowfocus --sync \(window)") }

    /// The size of the window in pixels.
    func size() throws -> (width: Int, height: Int) {
        let lines = try xdotool("getwindowgeometry --shell \(window)").split(separator: "\n")
        func number(_ name: String) throws -> Int {
            let line = try #require(lines.first { $0.hasPrefix(name + "=") })
            return try #require(Int(line.dropFirst(name.count + 1)))
        }
        return (try number("WIDTH"), try number("HEIGHT"))
    }

    /// What the window shows, as soon as it shows what is wanted; the last look if that never comes.
    func pixels(_ client: Client, when isWanted: ([UInt32]) -> Bool) throws -> [UInt32] {
        let (width, height) = try size()
        var pixels: [UInt32] = []
        for _ in 0..<30_000 {
            pixels = client.pixels(of: try #require(UInt32(window)), width: width, height: height)
            if isWanted(pixels) { break }
            usleep(10_000)
        }
        return pixels
    }
}

/// A Wayland compositor, with one program on it.
final class Weston {
    static let isThere = system("command -v weston >/dev/null") == 0
    static let isThereWithInput = isThere && Screen.isThere

    /// The folder of the compositor's socket.
    let folder: TemporaryDirectory
    /// The X server in which the compositor has a window, if it has one.
    let server: OtherProcess?
    let compositor: OtherProcess
    let program: OtherProcess
    /// The name of the X server.
    let display: String
    /// The lines of the program up to its first frame.
    private let started: [String]

    /// Starts a compositor without a screen, or one with a window in an X server that fills the window with the program;
    /// waits for the program's first frame.
    ///
    /// - Parameters:
    ///   - scene: What the program shows.
    ///   - hasInput: Whether the compositor has a window.
    ///   - kind: The kind of the compositor otherwise, as options.
    ///   - variables: Assignments and redirections of the shell, for the program.
    init(
        _ scene: String, hasInput: Bool = false, kind: String = Weston.withoutScreen, variables: String = ""
    ) throws {
        folder = TemporaryDirectory()
        if hasInput {
            let server = try OtherProcess("exec Xvfb -displayfd 1 -screen 0 800x600x24 -nolisten tcp 2>/dev/null")
            display = ":" + (try server.lines(1)[0])
            self.server = server
        } else {
            (display, server) = ("", nil)
        }
        // The shell of kiosks fills the output with the window, and shows no window without a keyboard.
        let kind = hasInput ? "x11-backend.so --use-pixman --shell=kiosk-shell.so" : kind
        compositor = try Self.start(kind, in: folder, display)
        program = try Self.run("\(scene) wayland", in: folder, variables)
        started = try program.lines(to: "shown")
        if hasInput {
            // Without a window manager, the server gives the keys to the window under the pointer.
            try xdotool("mousemove 320 240")
            try waitForPicture()
        }
    }

    /// Waits until the X server shows a colour of the program: the compositor has given the keys to the window then.
    private func waitForPicture() throws {
        let client = try Client(of: display)
        for _ in 0..<6_000 {
            if client.pixels().contains(0xC81E3C) { return }
            usleep(10_000)
        }
        throw OtherProcess.Missing(what: "a picture of the program")
    }

    /// The number of columns and rows that the window has when it fills the compositor's output.
    func size() throws -> (columns: Double, rows: Double) {
        let early = started.last { $0.hasPrefix("size") && $0 != "size 40.0 10.0" }
        let line = try early ?? program.lines(to: "size").last ?? ""
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        return (try #require(numbers.first), try #require(numbers.last))
    }

    /// The options of a compositor that has no screen, and shows 60 frames a second nevertheless.
    static let withoutScreen = "headless-backend.so --shell=desktop-shell.so"

    /// Starts a compositor, and waits for its socket.
    static func start(_ backend: String, in folder: TemporaryDirectory, _ display: String = "") throws -> OtherProcess {
        // The time that a compositor leaves to its programs is added to each frame where there is no screen.
        let configuration = folder.path("weston.ini")
        let text = "[core]\nidle-time=0\nrepaint-window=16\n"
        let file = try #require(fopen(configuration, "w"))
        #expect(fputs(text, file) >= 0 && fclose(file) == 0)
        let compositor = try OtherProcess(
            "DISPLAY=\(display) XDG_RUNTIME_DIR='\(folder.path)' exec weston --backend=\(backend) --width=640 "
                + "--height=480 --socket=wayland-test --config='\(configuration)' >/dev/null 2>&1")
        let socket = folder.path + "/wayland-test"
        for _ in 0..<6_000 where access(socket, F_OK) != 0 { usleep(10_000) }
        try #require(access(socket, F_OK) == 0)
        return compositor
    }

    /// Starts a program for the compositor.
    static func run(
        _ arguments: String, in folder: TemporaryDirectory, _ variables: String = ""
    ) throws -> OtherProcess {
        let path = try #require(BuiltPrograms.path("LoopUIWindowPrograms"))
        return try OtherProcess(
            "XDG_RUNTIME_DIR='\(folder.path)' WAYLAND_DISPLAY=wayland-test DISPLAY= LC_ALL=C.UTF-8 \(variables) "
                + "exec '\(path)' \(arguments)")
    }

    /// Runs xdotool in the compositor's X server, to its end.
    func xdotool(_ arguments: String) throws {
        let (_, status) = try OtherProcess("DISPLAY=\(display) exec xdotool \(arguments)").end()
        if status != 0 { throw OtherProcess.Missing(what: "xdotool \(arguments): \(status)") }
    }
}

/// A client of the same server, for what xdotool cannot do.
final class Client {
    private let connection: OpaquePointer
    private let root: xcb_window_t

    convenience init(_ screen: Screen) throws { try self.init(of: screen.name) }

    /// Connects to the server of a name.
    init(of name: String) throws {
        connection = try #require(xcb_connect(name, nil))
        root = try #require(xcb_setup_roots_iterator(xcb_get_setup(connection)).data).pointee.root
    }

    deinit { xcb_disconnect(connection) }

    func atom(_ name: String) -> xcb_atom_t {
        let cookie = xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
        guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else { return 0 }
        defer { free(reply) }
        return reply.pointee.atom
    }

    /// Sends what a window manager sends.
    func send(_ message: String, to window: String) throws {
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = try #require(UInt32(window))
        event.type = atom("WM_PROTOCOLS")
        event.data.data32.0 = atom(message)
        send(event, to: event.window)
    }

    /// Has a key go down, or up, in a window.
    func send(key: UInt8, isDown: Bool, to window: String) throws {
        var event = xcb_key_press_event_t()
        event.response_type = UInt8(isDown ? XCB_KEY_PRESS : XCB_KEY_RELEASE)
        event.detail = key
        event.same_screen = 1
        (event.root, event.event) = (root, try #require(UInt32(window)))
        send(event, to: event.event)
    }

    private func send<Event>(_ event: Event, to window: xcb_window_t) {
        withUnsafeBytes(of: event) { bytes in
            var buffer = [CChar](repeating: 0, count: 32)
            for (index, byte) in bytes.prefix(32).enumerated() { buffer[index] = CChar(bitPattern: byte) }
            xcb_send_event(connection, 0, window, 0, buffer)
        }
        xcb_flush(connection)
    }

    /// Has the root window's messages come here, as a window manager does.
    func listenToRoot() {
        let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue
        xcb_change_window_attributes(connection, root, XCB_CW_EVENT_MASK.rawValue, [mask])
        xcb_flush(connection)
    }

    /// Gives the keys to the root window.
    func takeFocus() {
        xcb_set_input_focus(connection, UInt8(XCB_INPUT_FOCUS_POINTER_ROOT.rawValue), root, 0)
        xcb_flush(connection)
    }

    /// The flags of a window's hints for window managers; `nil` if it has none.
    func hintFlags(of window: String) throws -> UInt32? {
        let hints = XCB_ATOM_WM_HINTS.rawValue
        let cookie = xcb_get_property(connection, 0, try #require(UInt32(window)), hints, hints, 0, 9)
        let reply = try #require(xcb_get_property_reply(connection, cookie, nil))
        defer { free(reply) }
        guard xcb_get_property_value_length(reply) == 36 else { return nil }
        return xcb_get_property_value(reply).load(as: UInt32.self)
    }

    /// Waits for a message of the window manager's protocols at the root window.
    func awaitMessage() -> xcb_atom_t? {
        while let event = xcb_wait_for_event(connection) {
            defer { free(event) }
            if event.pointee.response_type & 0x7F != UInt8(XCB_CLIENT_MESSAGE) { continue }
            return event.withMemoryRebound(to: xcb_client_message_event_t.self, capacity: 1) {
                $0.pointee.window == root ? $0.pointee.data.data32.0 : nil
            }
        }
        return nil
    }

    /// Owns a selection, and answers the next one who asks.
    func offer(_ text: String, as selection: String, _ ask: () throws -> Void) throws {
        let own: xcb_window_t = xcb_generate_id(connection)
        xcb_create_window(connection, 0, own, root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
        xcb_set_selection_owner(connection, own, atom(selection), 0)
        // The answer to a second question says that the server has done the first.
        _ = atom(selection)
        try ask()
        while let event = xcb_wait_for_event(connection) {
            defer { free(event) }
            if event.pointee.response_type & 0x7F != UInt8(XCB_SELECTION_REQUEST) { continue }
            let request = event.withMemoryRebound(to: xcb_selection_request_event_t.self, capacity: 1) { $0.pointee }
            let bytes = Array(text.utf8)
            xcb_change_property(
                connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), request.requestor, request.property, request.target,
                8, UInt32(bytes.count), bytes)
            var answer = xcb_selection_notify_event_t()
            answer.response_type = UInt8(XCB_SELECTION_NOTIFY)
            answer.requestor = request.requestor
            (answer.selection, answer.target, answer.property) = (request.selection, request.target, request.property)
            send(answer, to: request.requestor)
            return
        }
    }

    /// Asks the owner of a selection for its text; nil if it has none in this form.
    func ask(for selection: String, as target: String) -> [UInt8]? {
        let own: xcb_window_t = xcb_generate_id(connection)
        xcb_create_window(connection, 0, own, root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
        xcb_convert_selection(connection, own, atom(selection), atom(target), atom("ANSWER"), 0)
        xcb_flush(connection)
        while let event = xcb_wait_for_event(connection) {
            defer { free(event) }
            if event.pointee.response_type & 0x7F != UInt8(XCB_SELECTION_NOTIFY) { continue }
            let property = event.withMemoryRebound(to: xcb_selection_notify_event_t.self, capacity: 1) {
                $0.pointee.property
            }
            if property == 0 { return nil }
            let cookie = xcb_get_property(connection, 1, own, property, 0, 0, 1000)
            guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return nil }
            defer { free(reply) }
            return Array(
                UnsafeRawBufferPointer(
                    start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply))))
        }
        return nil
    }

    /// The same of the whole screen, whose size is 800 times 600.
    func pixels() -> [UInt32] { pixels(of: root, width: 800, height: 600) }

    /// Red, green and blue of each pixel; empty if the window is not shown.
    func pixels(of window: xcb_window_t, width: Int, height: Int) -> [UInt32] {
        let cookie = xcb_get_image(
            connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), window, 0, 0, UInt16(width), UInt16(height), ~0)
        guard let reply = xcb_get_image_reply(connection, cookie, nil) else { return [] }
        defer { free(reply) }
        let data = UnsafeRawBufferPointer(
            start: xcb_get_image_data(reply), count: Int(xcb_get_image_data_length(reply)))
        return (0..<data.count / 4).map { data.load(fromByteOffset: $0 * 4, as: UInt32.self) & 0xFF_FFFF }
    }
}
#endif

// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// A connection to a Wayland compositor: events in, requests out, without knowledge of what they mean.
///
/// Only making the connection waits, for a limited time. Afterwards each read and each write does what can be done at
/// once.
@MainActor final class CompositorConnection {
    /// An object of the compositor that programs share, such as a seat.
    struct Global: Hashable {
        let interface: String
        let version: UInt32
    }

    let display: OpaquePointer
    /// The descriptor that is readable when there are events.
    let descriptor: CInt
    /// The objects of the compositor, by their names.
    private(set) var globals: [UInt32: Global] = [:]
    /// Called with each event and the object that has it, in order.
    var handler: ((CompositorEvent, OpaquePointer) -> Void)?
    /// Whether requests wait until the compositor has read the earlier ones.
    private(set) var isBackedUp = false

    private let registry: OpaquePointer
    private var hasFailed = false
    private var isDispatching = false
    private var isClosed = false
    /// The callback of the answer that ``init(to:)`` waits for.
    private var answer: OpaquePointer?

    /// The time within which a compositor has to answer when a window is opened.
    static let patience = Duration.seconds(3)

    /// Connects to a compositor, and waits for the list of its objects.
    ///
    /// - Parameter name: The name of the compositor's socket, or its path; the value of `WAYLAND_DISPLAY` if `nil`, and
    ///   `wayland-0` if there is none.
    init(to name: String?) throws(WindowDisplayError) {
        let name = name ?? environmentValue("WAYLAND_DISPLAY") ?? "wayland-0"
        guard let path = Self.path(of: name), let descriptor = Self.connect(to: path) else {
            throw .noCompositor(display: name)
        }
        guard let display = wl_display_connect_to_fd(descriptor) else { throw .noCompositor(display: name) }
        guard let registry = wl_display_get_registry(display) else {
            wl_display_disconnect(display)
            throw .noCompositor(display: name)
        }
        (self.display, self.descriptor, self.registry) = (display, descriptor, registry)
        listen(to: registry, as: .registry)
        guard waitForAnswer() else {
            close()
            throw .noCompositor(display: name)
        }
    }

    private static func path(of name: String) -> String? {
        if name.isEmpty { return nil }
        if name.hasPrefix("/") { return name }
        guard let folder = environmentValue("XDG_RUNTIME_DIR"), !folder.isEmpty else { return nil }
        return folder + "/" + name
    }

    /// Connects to a socket without waiting for room in the queue of a compositor that does not accept.
    private static func connect(to path: String) -> CInt? {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = rl_made(socket(AF_UNIX, kind, 0))
        if descriptor < 0 { return nil }
        var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        let code = storage.withUnsafeMutableBytes { storage -> CInt in
            let length = Array(path.utf8).withUnsafeBytes { path in
                rl_address_unix(storage.baseAddress, path.baseAddress, path.count)
            }
            guard length > 0, let address = storage.baseAddress else { return -1 }
            return RunLoopsLibC.connect(
                descriptor, address.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        }
        if code == 0 { return descriptor }
        RunLoopsLibC.close(descriptor)
        return nil
    }

    // MARK: Objects

    /// Makes an object of the compositor usable here, if it has one of that interface.
    ///
    /// - Parameters:
    ///   - interface: The interface's name.
    ///   - maxVersion: The newest version whose events this library knows.
    func bind(_ interface: String, maxVersion: UInt32) -> OpaquePointer? {
        guard let (name, global) = globals.filter({ $0.value.interface == interface }).min(by: { $0.key < $1.key })
        else { return nil }
        return bind(name, global, maxVersion: maxVersion)
    }

    /// Makes an object of the compositor usable here.
    func bind(_ name: UInt32, _ global: Global, maxVersion: UInt32) -> OpaquePointer? {
        guard let interface = rlw_interface(global.interface) else { return nil }
        return wl_registry_bind(registry, name, interface, min(global.version, maxVersion)).map { OpaquePointer($0) }
    }

    /// Has the events of an object passed to ``handler``.
    func listen(to object: OpaquePointer?, as kind: CompositorObject) {
        guard let object else { return }
        // SAFETY: events are only dispatched in `dispatch()`, so the connection lives whenever the pointer is used.
        wl_proxy_add_dispatcher(
            object, { CompositorConnection.received($0, $1, $2, $4) }, Unmanaged.passUnretained(self).toOpaque(),
            UnsafeMutableRawPointer(bitPattern: kind.rawValue))
    }

    // MARK: Events

    /// Called by libwayland with each event, while the connection dispatches.
    private nonisolated static func received(
        _ connection: UnsafeRawPointer?, _ object: UnsafeMutableRawPointer?, _ number: UInt32,
        _ arguments: UnsafeMutablePointer<wl_argument>?
    ) -> CInt {
        guard let connection, let object, let arguments else { return 0 }
        let tag = UInt(bitPattern: wl_proxy_get_user_data(OpaquePointer(object)))
        guard let kind = CompositorObject(rawValue: tag), let event = CompositorEvent(kind, number, arguments) else {
            return 0
        }
        // SAFETY: the main actor dispatches the events, and waits in `dispatch()`.
        nonisolated(unsafe) let (owner, target, decoded) = (connection, OpaquePointer(object), event)
        MainActor.assumeIsolated {
            Unmanaged<CompositorConnection>.fromOpaque(owner).takeUnretainedValue().handle(decoded, target)
        }
        return 0
    }

    private func handle(_ event: CompositorEvent, _ object: OpaquePointer) {
        if object == answer {
            wl_callback_destroy(object)
            answer = nil
            return
        }
        switch event {
        case .global(let name, let interface, let version):
            // Only what a window uses, so that the list stays short.
            if rlw_interface(interface) != nil { globals[name] = Global(interface: interface, version: version) }
        case .globalRemoved(let name): globals[name] = nil
        default: break
        }
        if let handler { handler(event, object) } else { event.discard() }
    }

    /// Handles the events that have been read.
    func dispatch() {
        if isClosed || isDispatching { return }
        isDispatching = true
        let code = wl_display_dispatch_pending(display)
        isDispatching = false
        if code < 0 { hasFailed = true }
        // A handler has closed the connection, whose memory libwayland was using.
        if isClosed { wl_display_disconnect(display) }
    }

    /// Reads the events that are here, and handles them; never waits.
    func read() {
        if isClosed || isDispatching { return }
        while wl_display_prepare_read(display) != 0 {
            dispatch()
            if isClosed || isBroken { return }
        }
        // The socket does not block, and no other thread reads from this connection.
        if wl_display_read_events(display) < 0 { hasFailed = true }
        dispatch()
    }

    /// Whether the compositor has gone, or has ended the connection because of an error.
    var isBroken: Bool { isClosed || hasFailed || wl_display_get_error(display) != 0 }

    // MARK: Requests

    /// Sends the requests that wait, as far as there is room.
    func flush() {
        if isClosed { return }
        if wl_display_flush(display) >= 0 {
            isBackedUp = false
        } else if errno == EAGAIN {
            isBackedUp = true
        } else {
            hasFailed = true
        }
    }

    /// Waits until the compositor has answered to all requests so far; returns false if it does not answer in time.
    private func waitForAnswer() -> Bool {
        answer = wl_display_sync(display)
        listen(to: answer, as: .callback)
        let end = RunLoop.Instant.now.advanced(by: Self.patience)
        while answer != nil {
            flush()
            let rest = RunLoop.Instant.now.duration(to: end)
            if isBroken || rest <= .zero { return false }
            var wanted = pollfd(fd: descriptor, events: Int16(isBackedUp ? POLLIN | POLLOUT : POLLIN), revents: 0)
            poll(&wanted, 1, CInt(rest / .milliseconds(1)) + 1)
            if wanted.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 { read() }
        }
        return true
    }

    // MARK: The end

    /// Ends the connection; a second call does nothing.
    func close() {
        if isClosed { return }
        isClosed = true
        handler = nil
        if !isDispatching { wl_display_disconnect(display) }
    }
}
#endif

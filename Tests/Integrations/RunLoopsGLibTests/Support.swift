// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
import CGLib
import Glibc
import RunLoops

/// A thread of the test's own: a loop belongs to one thread, and the test runner's threads are shared.
final class TestThread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: the reference passed by init; taken once.
                Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    func join() { pthread_join(handle, nil) }
}

/// What threads and callbacks note, in order.
final class Notes: @unchecked Sendable {
    private var mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var names: [String] = []

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    var lines: [String] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return names
    }

    func note(_ name: String) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        names.append(name)
    }
}

/// A main context with a `GMainLoop`, used by one thread, except for what GLib allows other threads.
final class Context: @unchecked Sendable {
    let pointer: OpaquePointer
    let mainLoop: OpaquePointer

    init() {
        pointer = g_main_context_new()
        mainLoop = g_main_loop_new(pointer, 0)
    }

    deinit {
        g_main_loop_unref(mainLoop)
        g_main_context_unref(pointer)
    }

    /// Runs the context in GLib's own way, until `quit()` or until plenty of time has passed; how often it has slept.
    func run(forAtMost duration: Duration = plenty) -> Int {
        Sleeps.count = 0
        g_main_context_set_poll_func(pointer) { fds, count, timeout in
            if timeout != 0 { Sleeps.count += 1 }
            return g_poll(fds, count, timeout)
        }
        let end = after(duration) { [self] in quit() }
        g_main_loop_run(mainLoop)
        g_source_destroy(end)
        g_source_unref(end)
        return Sleeps.count
    }

    func quit() { g_main_loop_quit(mainLoop) }

    // MARK: Sources

    @discardableResult
    func after(_ duration: Duration, _ body: @escaping @Sendable () -> Void) -> UnsafeMutablePointer<GSource> {
        let source = g_timeout_source_new(guint(duration / .milliseconds(1)))
        return attach(source.unsafelyUnwrapped, body)
    }

    func idle(_ body: @escaping @Sendable () -> Void) {
        g_source_unref(attach(g_idle_source_new(), body))
    }

    /// Calls `body` when the descriptor is readable, until it has returned false.
    func watch(_ descriptor: CInt, _ body: @escaping @Sendable () -> Bool) {
        let source = g_unix_fd_source_new(descriptor, G_IO_IN).unsafelyUnwrapped
        let function: @convention(c) (gint, GIOCondition, gpointer?) -> gboolean = { _, _, data in
            Callback.call(data)
        }
        g_source_set_callback(
            source, unsafeBitCast(function, to: GSourceFunc.self), Callback(body).retained, { Callback.release($0) })
        g_source_attach(source, pointer)
        g_source_unref(source)
    }

    func invoke(_ body: @escaping @Sendable () -> Void) {
        let callback = Callback {
            body()
            return false
        }
        g_main_context_invoke_full(
            pointer, G_PRIORITY_DEFAULT, { Callback.call($0) }, callback.retained, { Callback.release($0) })
    }

    private func attach(
        _ source: UnsafeMutablePointer<GSource>, _ body: @escaping @Sendable () -> Void
    ) -> UnsafeMutablePointer<GSource> {
        let callback = Callback {
            body()
            return false
        }
        g_source_set_callback(source, { Callback.call($0) }, callback.retained, { Callback.release($0) })
        g_source_attach(source, pointer)
        return source
    }
}

/// A closure as GLib's user data.
private final class Callback {
    private let body: () -> Bool
    init(_ body: @escaping () -> Bool) { self.body = body }

    var retained: gpointer { Unmanaged.passRetained(self).toOpaque() }

    static func call(_ data: gpointer?) -> gboolean {
        Unmanaged<Callback>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue().body() ? 1 : 0
    }

    static func release(_ data: gpointer?) {
        Unmanaged<Callback>.fromOpaque(data.unsafelyUnwrapped).release()
    }
}

/// How often the context of the thread has slept; a poll function has no data of its own.
private enum Sleeps {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var count: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}

/// A limit that only a bug reaches.
let plenty = Duration.seconds(300)

/// Long enough for a wake-up by the clock to show.
let idleTime = Duration.milliseconds(200)

func makePipe() -> (read: CInt, write: CInt) {
    var ends: [CInt] = [-1, -1]
    let result = pipe(&ends)
    precondition(result == 0, "pipe: errno \(errno)")
    for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (ends[0], ends[1])
}

func send(_ text: String, into descriptor: CInt) {
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
}

func readText(_ descriptor: CInt) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, 256))
    }
    return String(decoding: bytes, as: UTF8.self)
}
#endif

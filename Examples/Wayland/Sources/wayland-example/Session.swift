// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CWayland

/// What the compositor says.
final class Session {
    private let display: OpaquePointer
    private(set) var globals: [String] = []
    private(set) var answers = 0
    private let registry: OpaquePointer
    // Wayland keeps the pointers to them.
    private let registryListener = UnsafeMutablePointer<wl_registry_listener>.allocate(capacity: 1)
    private let answerListener = UnsafeMutablePointer<wl_callback_listener>.allocate(capacity: 1)

    init(_ display: Display) {
        self.display = display.pointer
        registry = wl_display_get_registry(display.pointer)
        registryListener.initialize(
            to: wl_registry_listener(
                global: { me, _, _, interface, _ in
                    Session.of(me).globals.append(String(cString: interface.unsafelyUnwrapped))
                }, global_remove: { _, _, _ in }))
        answerListener.initialize(
            to: wl_callback_listener { me, callback, _ in
                wl_callback_destroy(callback)
                Session.of(me).answers += 1
            })
        wl_registry_add_listener(registry, registryListener, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        wl_registry_destroy(registry)
        registryListener.deallocate()
        answerListener.deallocate()
    }

    /// Asks the compositor for an answer, which the loop dispatches.
    func ask() {
        let callback = wl_display_sync(display)
        wl_callback_add_listener(callback, answerListener, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> Session {
        // SAFETY: the session that init and ask() pass, which outlives its proxies.
        Unmanaged<Session>.fromOpaque(pointer.unsafelyUnwrapped).takeUnretainedValue()
    }
}

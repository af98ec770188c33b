// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
import Synchronization

/// Receives what a connection has loaded, on the thread that made the connection.
public protocol LoadDelegate: AnyObject {
    /// Called once, before all bytes and after all redirects; does nothing unless implemented.
    func connection(_ connection: LoadConnection, didReceive response: LoadResponse)
    /// Called with bytes in the order in which they arrived.
    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8])
    /// Called once, after all bytes.
    func connectionDidFinish(_ connection: LoadConnection)
    /// Called once, in place of ``connectionDidFinish(_:)``.
    func connection(_ connection: LoadConnection, didFailWith error: LoadError)
}

extension LoadDelegate {
    /// Does nothing.
    public func connection(_ connection: LoadConnection, didReceive response: LoadResponse) {}
}

/// Loads an address, and calls a delegate, as `NSURLConnection` does.
///
/// Redirects are followed. The proxy is that of the environment variables `http_proxy`, `https_proxy` and `no_proxy`; this machine is
/// reached without one.
///
/// The delegate is called by a signalled source of the loop of the thread that made the connection, in the modes of the connection: with
/// `[.default]` not while the user drags, with `[.common]` also then. Bytes that arrive together are one callout.
///
/// From `start()` until its end the connection keeps itself and its delegate.
///
/// Thread safety: `start()` and `cancel()` may be called by any thread.
public final class LoadConnection: @unchecked Sendable {
    /// The address, of `http` or `https`.
    public let url: String
    private let loader: LoaderThread
    private let mailbox: Mailbox<LoadEvent>
    private let state: Mutex<State>
    // Used on the delegate's thread alone, once the connection has started.
    private var delegate: (any LoadDelegate)?

    private struct State {
        var isStarted = false
        var isCancelled = false
        /// Keeps the connection while it loads.
        var keeper: LoadConnection?
    }

    /// A connection of the calling thread's loop, which has not started.
    ///
    /// - Parameters:
    ///   - url: The address, of `http` or `https`.
    ///   - modes: The modes in which the delegate is called.
    ///   - loader: The threads that load.
    ///   - delegate: Is kept until the end.
    public init(
        _ url: String, modes: [RunLoop.Mode] = [.default], loader: LoaderThread, delegate: any LoadDelegate
    ) {
        self.url = url
        self.loader = loader
        self.delegate = delegate
        state = Mutex(State())
        mailbox = Mailbox(in: modes)
        mailbox.receive = { [weak self] events in self?.receive(events) }
    }

    /// Starts to load.
    ///
    /// A second call, and one after `cancel()`, does nothing.
    public func start() {
        let starts = state.withLock { state in
            if state.isStarted || state.isCancelled { return false }
            (state.isStarted, state.keeper) = (true, self)
            return true
        }
        if starts { loader.load(self) }
    }

    /// Ends the connection: its socket is closed, and its delegate is not called any more and is released.
    ///
    /// On the delegate's thread this holds from the return of this call on. On another thread a call of the delegate may be under way.
    public func cancel() {
        state.withLock { $0.isCancelled = true }
        loader.cancel(self)
        // Its own thread releases the delegate, and what keeps the connection.
        mailbox.put(.cancelled)
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Hands news to the delegate's thread; any thread.
    func put(_ event: LoadEvent) { mailbox.put(event) }

    private func receive(_ events: [LoadEvent]) {
        // Bytes that have come together are one call.
        var bytes: [UInt8] = []
        var end: LoadEvent?
        for event in events {
            switch event {
            case .response(let response): if !isCancelled { delegate?.connection(self, didReceive: response) }
            case .bytes(let more): bytes += more
            case .finished, .failed, .cancelled: end = event
            }
        }
        if !bytes.isEmpty, !isCancelled { delegate?.connection(self, didReceive: bytes) }
        guard let end else { return }
        // Before the last call: the delegate may start another load there.
        let (delegate, keeper, tells) = (delegate, state.withLock { $0.keeper.take() }, !isCancelled)
        self.delegate = nil
        mailbox.invalidate()
        switch end {
        case .finished where tells: delegate?.connectionDidFinish(self)
        case .failed(let error) where tells: delegate?.connection(self, didFailWith: error)
        default: break
        }
        withExtendedLifetime(keeper) {}
    }
}

/// What happens to a load.
enum LoadEvent: Sendable {
    case response(LoadResponse)
    case bytes([UInt8])
    case finished
    case failed(LoadError)
    case cancelled
}

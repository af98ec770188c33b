// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Receives the changes of the program's state; all members but the initialiser are optional.
@MainActor public protocol ApplicationDelegate: AnyObject {
    /// Makes the delegate when the program begins.
    init()
    /// Called when the display is open and nothing is shown yet.
    func applicationWillFinishLaunching(_ application: Application)
    /// Called when the program is launched; makes and shows the first window.
    func applicationDidFinishLaunching(_ application: Application)
    /// Called when the program has become active: it receives events from now on.
    func applicationDidBecomeActive(_ application: Application)
    /// Called when the program is about to become inactive: it will receive no events.
    func applicationWillResignActive(_ application: Application)
    /// Called when the program is no longer visible; it may be stopped without further notice.
    func applicationDidEnterBackground(_ application: Application)
    /// Called when the program is about to become visible again.
    func applicationWillEnterForeground(_ application: Application)
    /// Called when the program is about to end.
    func applicationWillTerminate(_ application: Application)
}

extension ApplicationDelegate {
    /// Does nothing.
    public func applicationWillFinishLaunching(_ application: Application) {}
    /// Does nothing.
    public func applicationDidFinishLaunching(_ application: Application) {}
    /// Does nothing.
    public func applicationDidBecomeActive(_ application: Application) {}
    /// Does nothing.
    public func applicationWillResignActive(_ application: Application) {}
    /// Does nothing.
    public func applicationDidEnterBackground(_ application: Application) {}
    /// Does nothing.
    public func applicationWillEnterForeground(_ application: Application) {}
    /// Does nothing.
    public func applicationWillTerminate(_ application: Application) {}
}

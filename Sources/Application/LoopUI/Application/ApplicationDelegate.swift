// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Receives the changes of the program's state; all members but the initialiser are optional.
@MainActor public protocol ApplicationDelegate: AnyObject {
    /// A delegate, made when the program begins.
    init()
    /// The display is open; nothing is shown yet.
    func applicationWillFinishLaunching(_ application: Application)
    /// The time to make a window.
    func applicationDidFinishLaunching(_ application: Application)
    /// The user looks at the program.
    func applicationDidBecomeActive(_ application: Application)
    /// The user is about to look away.
    func applicationWillResignActive(_ application: Application)
    /// The program is not seen; it may be stopped without further notice.
    func applicationDidEnterBackground(_ application: Application)
    /// The program is about to be seen again.
    func applicationWillEnterForeground(_ application: Application)
    /// The program is about to end.
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

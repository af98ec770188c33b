// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A toolkit's back end for GTK, reduced to what it does with the main thread.
//
//   backend tickler | alone | guest    measures, prints, and ends with 0; with `guest` if each row is as it should be

import CGTK
import Glibc

/// What lives as long as the program runs.
@MainActor
enum Application {
    static var backend = Backend.guest
    static var measurement: Measurement?
    static var isWell = true
}

guard let backend = Backend(rawValue: CommandLine.arguments.dropFirst().first ?? "guest") else {
    print("backend tickler | alone | guest")
    exit(2)
}
Application.backend = backend

let application = gtk_application_new("org.example.run-loops.toolkit", G_APPLICATION_NON_UNIQUE)
let activate: @convention(c) (UnsafeMutablePointer<GtkApplication>?, gpointer?) -> Void = { application, _ in
    guard let application else { return }
    // GTK has not changed threads, which it cannot say in Swift.
    nonisolated(unsafe) let sameThread = application
    MainActor.assumeIsolated {
        ex_window_show(sameThread)
        do { try Application.backend.start() } catch { fatalError("the loop cannot be a guest: \(error)") }
        let isGuest = Application.backend == .guest
        let measurement = Measurement { results in
            for row in results { print("\(row.name): \(row.text)\(row.isWell || !isGuest ? "" : " (!)")") }
            let isWell = results.allSatisfy(\.isWell)
            // From a thread that is not GTK's.
            g_idle_add(
                { data in
                    let isWell = data != nil
                    MainActor.assumeIsolated { Application.isWell = isWell }
                    g_application_quit(g_application_get_default())
                    return 0
                }, isWell ? UnsafeMutableRawPointer(bitPattern: 1) : nil)
        }
        Application.measurement = measurement
        measurement.start()
    }
}
g_signal_connect_data(application, "activate", unsafeBitCast(activate, to: GCallback.self), nil, nil, GConnectFlags(0))
let result = g_application_run(ex_application(application), 0, nil)
exit(result == 0 && (Application.isWell || backend != .guest) ? 0 : 1)

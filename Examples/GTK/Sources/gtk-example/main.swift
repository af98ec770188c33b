// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A GTK window whose main thread also serves timers of a run loop, DispatchQueue.main and @MainActor.
//
//   gtk-example                            the window
//   gtk-example --measure [PICTURE.png]    measures, prints, and ends with 0 if all is well
//   gtk-example --handler                  the same for work that the button's handler gives to the loops

import CGTK
import Glibc
import RunLoops
import RunLoopsGLib

/// What is shown as long as the program runs.
@MainActor
enum Application {
    static var window: Window?
    static var measurement: Measurement?
    static var handler: HandlerMeasurement?
    static var status: CInt = 0
}

// From here on the main thread's run loop is a part of GTK's. That is all there is to it.
let guest = try GLibGuest()

let application = gtk_application_new("org.example.run-loops", G_APPLICATION_NON_UNIQUE)
let activate: @convention(c) (UnsafeMutablePointer<GtkApplication>?, gpointer?) -> Void = { application, _ in
    guard let application else { return }
    // GTK has not changed threads, which it cannot say in Swift.
    nonisolated(unsafe) let sameThread = application
    MainActor.assumeIsolated {
        let window = Window(sameThread)
        Application.window = window
        let end: @MainActor (Bool) -> Void = { isWell in
            Application.status = isWell ? 0 : 1
            g_application_quit(g_application_get_default())
        }
        let option = CommandLine.arguments.dropFirst().first
        if option == "--handler" {
            let handler = HandlerMeasurement(window, end: end)
            Application.handler = handler
            return handler.start()
        }
        guard option == "--measure" else { return }
        let measurement = Measurement(window, picture: CommandLine.arguments.dropFirst(2).first, end: end)
        Application.measurement = measurement
        Task {
            do { try await measurement.run() } catch { fatalError("the measurement was cancelled: \(error)") }
        }
    }
}
g_signal_connect_data(application, "activate", unsafeBitCast(activate, to: GCallback.self), nil, nil, GConnectFlags(0))
let result = g_application_run(ex_application(application), 0, nil)
exit(result == 0 ? Application.status : result)

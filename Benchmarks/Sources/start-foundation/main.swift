// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The same as W10 with Foundation's classes.

@preconcurrency import CoreFoundation
import Foundation

let timer = Timer(timeInterval: 0.001, repeats: false) { _ in CFRunLoopStop(CFRunLoopGetCurrent()) }
RunLoop.current.add(timer, forMode: .default)
// Foundation's own run(mode:before:) does not return when a timer has fired.
CFRunLoopRun()

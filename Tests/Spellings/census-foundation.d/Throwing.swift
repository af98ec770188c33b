// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The wrong loop: each line below is an error, beside which the compiler says what to use. It looks for errors of this kind in files
// without any other.

import Foundation
import FoundationRunLoop

func mix(_ stream: Stream, _ handle: FileHandle) {
    stream.schedule(in: .current, forMode: .default)
    stream.remove(from: .main, forMode: .default)
    handle.readInBackgroundAndNotify(forModes: [.default])
}

import Glibc

/// A program that is run to its end, on this one's terminal.
enum ChildProgram {
    /// Its exit status, as a shell would put it.
    ///
    /// - Parameter environment: Set besides what this program has itself.
    static func run(_ command: [String], environment: [String: String]) throws -> CInt {
        for (name, value) in environment { setenv(name, value, 1) }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // Control-C is the program's to answer: this one waits for what it leaves. The child gets the old answer back.
        var old = sigaction()
        var ignoring = sigaction()
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGINT, &ignoring, &old)
        defer { sigaction(SIGINT, &old, nil) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var interrupts = sigset_t()
        sigemptyset(&interrupts)
        sigaddset(&interrupts, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &interrupts)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let code = posix_spawnp(&process, command[0], nil, &attributes, &arguments, environ)
        if code != 0 { throw CommandEnd.failure("\(command[0]): \(reason(code))") }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { throw CommandEnd.failure("\(command[0]): \(reason(errno))") }
        }
        let signal = status & 0x7F
        return signal != 0 ? 128 + signal : status >> 8 & 0xFF
    }
}

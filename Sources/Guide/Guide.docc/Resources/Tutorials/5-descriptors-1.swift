import Glibc
import RunLoops

var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("pipe: errno \(errno)") }

let input = RunLoop.DescriptorSource(ends[0]) { source, _ in
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(source.descriptor, &bytes, bytes.count)
    print("\(count) bytes have come")
}
try RunLoop.current.add(input, in: .default)
RunLoop.current.run()

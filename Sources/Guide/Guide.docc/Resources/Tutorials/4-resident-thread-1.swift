import RunLoopsKit

let thread = try RunLoopThread(name: "decoder")
thread.post { print("decoded: sunrise.png") }
thread.post { print("decoded: sunset.png") }

thread.stop()
thread.join()
print("The thread has ended.")

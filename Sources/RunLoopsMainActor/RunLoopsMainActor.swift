internal import CMainActorAtLoad
internal import RunLoops
internal import RunLoopsConcurrency

/// What the C part calls when the program is loaded; nothing of Swift is asked for here but two addresses.
@_cdecl("run_loops_take_main_actor")
func takeMainActor() { RunLoop.takeMainActorAtLoad() }

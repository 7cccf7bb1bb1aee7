# Runs the program once and prints what its processes saw.
over = Channel(Nil).new
run = Run.new(over)
run.actor("main").begin(->(p : Actor) { program(p); nil })
over.receive
puts run.record

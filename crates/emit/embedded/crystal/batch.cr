# Runs every program several times and reports what was seen.
# Arguments: how often, patience in milliseconds, the first program.
repetitions = (ARGV[0]? || "10").to_i64
patience = (ARGV[1]? || "5000").to_i64.milliseconds
puts "ready 1"
id = (ARGV[2]? || "0").to_i64
while id < PROGRAMS.size
  puts "begin #{id}"
  STDOUT.flush
  begun = Time.monotonic
  seen = {} of String => Tuple(Int64, Int64)
  ending = "finished"
  runs = 0_i64
  while runs < repetitions && ending == "finished"
    over = Channel(Nil).new(1)
    run = Run.new(over)
    body = PROGRAMS[id]
    run.actor("main").begin(->(p : Actor) { body.call(p); nil })
    select
    when over.receive
      record = run.record
      count, first = seen[record]? || {0_i64, runs}
      seen[record] = {count + 1, first}
      runs += 1
    when timeout(patience)
      ending = "hung #{runs}#{run.stuck} : #{run.record}"
    end
  end
  seen.each { |record, tally| puts "seen #{id} #{tally[0]} #{tally[1]} #{record}" }
  puts "end #{id} #{runs} #{(Time.monotonic - begun).total_microseconds.to_i64} #{ending}"
  STDOUT.flush
  exit if ending != "finished"
  id += 1
end

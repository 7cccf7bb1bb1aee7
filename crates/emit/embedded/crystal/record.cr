# The value of a unit message on a channel that may be closed, where nil says that it is.
struct Token
end

# A run of a program: its processes, and what each of them saw.
class Run
  getter actors = [] of Actor
  @unfinished = 0

  def initialize(@over : Channel(Nil))
  end

  def actor(name : String) : Actor
    actor = Actor.new(self, name)
    @unfinished += 1
    @actors << actor
    actor
  end

  def ended(actor : Actor)
    actor.has_ended = true
    @unfinished -= 1
    @over.send(nil) if @unfinished == 0
  end

  # What all processes saw, on one line.
  def record : String
    words = @actors.reject(&.seen.empty?).map { |actor| "#{actor.name}=#{actor.seen.join(',')}" }
    finished = @actors.all?(&.has_ended) ? "finished" : "unfinished"
    ([finished] + words.sort).join(' ')
  end

  # The processes that have not finished.
  def stuck : String
    @actors.reject(&.has_ended).map { |actor| " #{actor.name}@0" }.join
  end
end

# A process, which alone writes what it sees.
class Actor
  getter name : String
  getter seen = [] of String
  property has_ended = false
  @children = 0

  def initialize(@run : Run, @name : String)
  end

  # Spawns a process.
  def spawn(&body : Actor ->)
    @children += 1
    @run.actor("#{@name}.#{@children}").begin(body)
  end

  def begin(body : Actor ->)
    ::spawn do
      body.call(self)
      @run.ended(self)
    end
  end

  def got(value)
    @seen << "r#{show(value)}"
  end

  # What a get gave; nil when there will be nothing any more.
  def got_or_closed(value)
    value.nil? ? (@seen << "x") : got(value)
  end

  def observed(value)
    @seen << "o#{show(value)}"
  end

  def chose(number : Int32)
    @seen << "##{number}"
  end

  def defaulted
    @seen << "d"
  end

  def timed_out
    @seen << "t"
  end

  private def show(value) : String
    case value
    when Nil, Token then "u"
    when Bool       then value ? "t" : "f"
    when Int64      then value.to_s
    else                 "c"
    end
  end
end

//! What a Go program says when it panics, when all goroutines sleep, or when it was asked for all
//! of its stacks.

/// What stands in the stderr of a Go program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoDump {
    /// The runtime found that nothing can move: `all goroutines are asleep - deadlock!`.
    pub all_asleep: bool,
    /// Why it panicked, or what error of the runtime was fatal.
    pub panic: Option<String>,
    /// The goroutines that were shown.
    pub goroutines: Vec<Goroutine>,
}

/// One goroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goroutine {
    /// Its number.
    pub id: u64,
    /// What it was doing: `chan receive`, `select`, `running`, …
    pub state: String,
    /// The functions on its stack, innermost first.
    pub functions: Vec<String>,
}

impl GoDump {
    /// The goroutines that wait for a channel.
    pub fn waiting(&self) -> impl Iterator<Item = &Goroutine> {
        let waits = |goroutine: &&Goroutine| {
            goroutine.state.starts_with("chan ") || goroutine.state.starts_with("select")
        };
        self.goroutines.iter().filter(waits)
    }
}

/// Reads the stderr of a Go program.
pub fn go_dump(text: &str) -> GoDump {
    let mut dump = GoDump::default();
    for line in text.lines() {
        if line.contains("all goroutines are asleep") {
            dump.all_asleep = true;
        } else if let Some(why) =
            line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: "))
        {
            dump.panic.get_or_insert_with(|| why.to_owned());
        } else if let Some(goroutine) = heading(line) {
            dump.goroutines.push(goroutine);
        } else if let Some(goroutine) = dump.goroutines.last_mut() {
            // A frame is two lines: the call, and an indented place.
            let is_call = !line.starts_with('\t') && line.ends_with(')');
            if let Some((function, _)) = line.rsplit_once('(').filter(|_| is_call) {
                goroutine.functions.push(function.to_owned());
            }
        }
    }
    dump
}

/// `goroutine 7 [chan receive, 2 minutes]:`
fn heading(line: &str) -> Option<Goroutine> {
    let rest = line.strip_prefix("goroutine ")?.strip_suffix("]:")?;
    let (id, state) = rest.split_once(" [")?;
    // Newer versions put more between the two.
    let id = id.split_ascii_whitespace().next()?.parse().ok()?;
    let state = state.split(',').next()?.to_owned();
    Some(Goroutine { id, state, functions: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_that_the_runtime_found() {
        let dump = go_dump(
            "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive, 2 minutes]:\nmain.program(0xc000012345)\n\t/tmp/x/main.go:7 +0x25\nmain.main()\n\t/tmp/x/main.go:3 +0x1d\n\ngoroutine 6 [select]:\nmain.program.func1()\n\t/tmp/x/main.go:9 +0x2f\n",
        );
        assert!(dump.all_asleep);
        assert_eq!(dump.goroutines.len(), 2);
        assert_eq!(dump.goroutines[0].state, "chan receive");
        assert_eq!(dump.goroutines[0].functions, ["main.program", "main.main"]);
        assert_eq!(dump.waiting().map(|goroutine| goroutine.id).collect::<Vec<_>>(), [1, 6]);
    }

    #[test]
    fn a_panic() {
        let dump = go_dump("panic: send on closed channel\n\ngoroutine 5 [running]:\nmain.f()\n");
        assert_eq!(dump.panic.as_deref(), Some("send on closed channel"));
        assert_eq!(dump.waiting().count(), 0);
        assert!(!dump.all_asleep);
    }

    #[test]
    fn what_is_no_dump() {
        assert_eq!(go_dump("hello\n(world)\n"), GoDump::default());
    }
}

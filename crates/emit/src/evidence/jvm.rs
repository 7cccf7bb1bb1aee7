//! What a JVM says: thread dumps (its own, or those that our Kotlin programs write before they call
//! something a hang), deadlocks among locks, and stacks that have overflowed.

/// A thread dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JvmDump {
    /// The threads that wait for each other's locks, as the JVM itself says. Then a hang is a
    /// deadlock beyond doubt.
    pub deadlocked: Vec<String>,
    /// All threads that were shown.
    pub threads: Vec<JavaThread>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaThread {
    /// Its name.
    pub name: String,
    /// The methods on its stack, innermost first.
    pub frames: Vec<String>,
}

/// Reads a thread dump.
pub fn jvm_dump(text: &str) -> JvmDump {
    let mut dump = JvmDump::default();
    let mut is_deadlock = false;
    for line in text.lines() {
        if line.starts_with("Found one Java-level deadlock") {
            is_deadlock = true;
        } else if let Some((name, rest)) =
            line.strip_prefix('"').and_then(|rest| rest.split_once('"'))
        {
            // The part on deadlocks names each thread and what it waits for.
            let waits = rest.contains("BLOCKED") || rest.contains("WAITING") || rest == ":";
            if is_deadlock && waits && !dump.deadlocked.iter().any(|known| known == name) {
                dump.deadlocked.push(name.to_owned());
            }
            dump.threads.push(JavaThread { name: name.to_owned(), frames: Vec::new() });
        } else if let Some(frame) = line.trim().strip_prefix("at ") {
            dump.threads.iter_mut().last().into_iter().for_each(|thread| {
                thread.frames.push(frame.to_owned());
            });
        } else if line.starts_with("End of deadlock") {
            is_deadlock = false;
        }
    }
    dump
}

/// The methods that call each other forever, if it is a stack overflow that the text is about.
/// They are in a fixed order, so that one fault has one face.
pub fn stack_overflow(text: &str) -> Option<Vec<String>> {
    let (_, rest) = text.split_once("java.lang.StackOverflowError")?;
    let frames = rest.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let mut methods: Vec<String> =
        frames.map(|frame| frame.split('(').next().unwrap_or(frame).to_owned()).collect();
    methods.sort_unstable();
    methods.dedup();
    Some(methods)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_among_locks() {
        let dump = jvm_dump(
            "Found one Java-level deadlock:\n\"a\" Id=12 BLOCKED on java.lang.Object@1 owned by \"b\" Id=13\n\tat X.f(X.java:1)\n\"b\" Id=13 BLOCKED on java.lang.Object@2 owned by \"a\" Id=12\n\tat X.g(X.java:2)\nEnd of deadlocks\n\"main\" WAITING\n  at Y.h(Y.java:3)\n",
        );
        assert_eq!(dump.deadlocked, ["a", "b"]);
        assert_eq!(dump.threads.len(), 3);
        assert_eq!(dump.threads[2].frames, ["Y.h(Y.java:3)"]);
    }

    #[test]
    fn threads_that_only_wait_are_no_deadlock() {
        let dump = jvm_dump("\"main\" WAITING\n  at Y.h(Y.java:3)\n");
        assert_eq!(dump.deadlocked, Vec::<String>::new());
    }

    #[test]
    fn an_overflow_is_named_by_what_repeats() {
        let one = "java.lang.StackOverflowError\n  at a.B.f(B.kt:1)\n  at a.B.g(B.kt:2)\n  at a.B.f(B.kt:9)";
        let other = "java.lang.StackOverflowError\n  at a.B.g(B.kt:2)\n  at a.B.f(B.kt:1)";
        assert_eq!(
            stack_overflow(one).as_deref(),
            Some(&["a.B.f".to_owned(), "a.B.g".to_owned()][..])
        );
        assert_eq!(stack_overflow(one), stack_overflow(other));
        assert_eq!(stack_overflow("java.lang.IllegalStateException"), None);
    }
}

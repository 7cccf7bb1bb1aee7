//! CodeBuffer for the code of a model thread between its start and its first line. It belongs to the
//! thread's entry and is used again in the next execution, so that starting a thread allocates
//! nothing.
#![allow(
    unsafe_code,
    reason = "code of any type is written to plain memory, and read back by functions made for that \
              type"
)]

use std::any::Any;
use std::mem::MaybeUninit;

/// What code is written to.
type Block = MaybeUninit<u128>;

/// How to get code of one type back.
struct Kind {
    /// Reads the code and performs it.
    perform: unsafe fn(*mut Block),
    /// Reads the code and puts it into a box. It cannot be performed there, so that there is one place
    /// where it is performed.
    unpack: unsafe fn(*mut Block) -> Box<dyn Any>,
}

/// SAFETY: the memory must hold code of this type, which is moved away by this.
unsafe fn perform<F: FnOnce()>(memory: *mut Block) {
    // SAFETY: see above; `CodeBuffer::put` has seen to the alignment.
    (unsafe { memory.cast::<F>().read() })();
}

/// SAFETY: the memory must hold code of this type, which is moved away by this.
unsafe fn unpack<F: FnOnce() + 'static>(memory: *mut Block) -> Box<dyn Any> {
    // SAFETY: see above; `CodeBuffer::put` has seen to the alignment.
    Box::new(unsafe { memory.cast::<F>().read() })
}

/// CodeBuffer for one piece of code.
pub(crate) struct CodeBuffer {
    blocks: Vec<Block>,
    /// What is in it, if anything.
    kind: Option<&'static Kind>,
}

/// Code that is about to be performed.
#[derive(Clone, Copy)]
pub(crate) struct Code {
    memory: *mut Block,
    kind: &'static Kind,
}

impl Code {
    /// Performs the code. To be called once, before its room is used again: the runtime takes code
    /// out of a room in order to switch to the coroutine that begins with this.
    #[inline(always)]
    pub(crate) fn perform(self) {
        // SAFETY: `CodeBuffer::put` has written code of this kind, and it was not moved away.
        unsafe { (self.kind.perform)(self.memory) }
    }
}

impl CodeBuffer {
    pub(crate) const fn new() -> Self {
        CodeBuffer { blocks: Vec::new(), kind: None }
    }

    /// Puts code into the room, which must be empty.
    #[inline]
    pub(crate) fn put<F: FnOnce() + 'static>(&mut self, code: F) {
        if align_of::<F>() > align_of::<Block>() {
            let code: Box<dyn FnOnce()> = Box::new(code);
            return self.put(code);
        }
        debug_assert!(self.kind.is_none(), "one piece of code at a time");
        let needed = size_of::<F>().div_ceil(size_of::<Block>());
        if self.blocks.len() < needed {
            self.grow(needed);
        }
        // SAFETY: the blocks are at least as large and as aligned as the code.
        unsafe { self.blocks.as_mut_ptr().cast::<F>().write(code) };
        self.kind = Some(const { &Kind { perform: perform::<F>, unpack: unpack::<F> } });
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        self.blocks.resize(needed, Block::uninit());
    }

    /// Takes the code in order to perform it.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Code> {
        let kind = self.kind.take()?;
        Some(Code { memory: self.blocks.as_mut_ptr(), kind })
    }

    /// Forgets the code: it is neither performed nor dropped. Says whether there was any.
    pub(crate) fn forget(&mut self) -> bool {
        self.kind.take().is_some()
    }

    /// Takes the code in order not to perform it.
    fn unpack(&mut self) -> Option<Box<dyn Any>> {
        let code = self.take()?;
        // SAFETY: as in `Code::perform`.
        Some(unsafe { (code.kind.unpack)(code.memory) })
    }
}

impl Drop for CodeBuffer {
    fn drop(&mut self) {
        drop(self.unpack());
    }
}

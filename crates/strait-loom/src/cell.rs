//! `UnsafeCell` and `Cell` whose accesses are checked: a data race, or an access during another one that
//! excludes it, fails the model.
#![allow(
    unsafe_code,
    reason = "a cell hands out its contents, and a `Cell` changes what is shared"
)]

use std::cmp::Ordering;

use strait::cell::Access;

/// Memory without synchronisation of its own.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized>(strait::cell::UnsafeCell<T>);

/// A pointer to read through. The access lasts until it is dropped.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    _access: Access,
    pointer: *const T,
}

/// A pointer to write through. The access lasts until it is dropped.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    _access: Access,
    pointer: *mut T,
}

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[track_caller]
    pub fn new(data: T) -> Self {
        UnsafeCell(strait::cell::UnsafeCell::new(data))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer that is valid during the call.
    #[track_caller]
    pub fn with<F, R>(&self, access: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let (_access, pointer) = self.0.begin(false);
        access(pointer)
    }

    /// Writes through a pointer that is valid during the call.
    #[track_caller]
    pub fn with_mut<F, R>(&self, access: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let (_access, pointer) = self.0.begin(true);
        access(pointer)
    }

    /// A pointer to read through. The access lasts until the pointer is dropped.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let (_access, pointer) = self.0.begin(false);
        ConstPtr { _access, pointer }
    }

    /// A pointer to write through. The access lasts until the pointer is dropped.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let (_access, pointer) = self.0.begin(true);
        MutPtr { _access, pointer }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for reading through the pointer of `std::cell::UnsafeCell::get`.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller promises it.
        unsafe { &*self.pointer }
    }

    /// Reads through the pointer.
    pub fn with<F, R>(&self, access: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        access(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for writing through the pointer of `std::cell::UnsafeCell::get`.
    #[allow(clippy::mut_from_ref, reason = "it stands for a raw pointer")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller promises it.
        unsafe { &mut *self.pointer }
    }

    /// Writes through the pointer.
    pub fn with<F, R>(&self, access: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        access(self.pointer)
    }
}

/// A `std::cell::Cell` whose accesses are checked.
#[derive(Debug)]
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// A new cell.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Cell(UnsafeCell::new(value))
    }

    /// Sets the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if !std::ptr::eq(self, other) {
            // SAFETY: accesses by other threads that are not ordered with these end the execution, and
            // nothing else happens between beginning and end.
            self.0.with_mut(|mine| {
                other.0.with_mut(|theirs| unsafe { std::ptr::swap(mine, theirs) })
            });
        }
    }

    /// Sets the value and gives the old one.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: as in `swap`.
        self.0.with_mut(|pointer| unsafe { std::mem::replace(&mut *pointer, value) })
    }

    /// The value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as in `swap`.
        self.0.with(|pointer| unsafe { *pointer })
    }

    /// Takes the value and leaves the default.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Cell::new(value)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

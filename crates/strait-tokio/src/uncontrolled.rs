//! What is not offered: a call of it does not compile, and the compiler says why. The feature `uncontrolled`
//! passes tokio's own modules through instead.

/// What tokio offers and this crate cannot control.
#[diagnostic::on_unimplemented(
    message = "strait-tokio does not control the network, files, processes or signals",
    label = "nothing that happens here could be part of a search",
    note = "use a channel or a trait in its place under test, or turn on the feature `uncontrolled` of \
            strait-tokio, which passes tokio's own types through as they are"
)]
pub trait Controlled {}

/// Functions that exist only to be refused.
macro_rules! refused {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $(
            $(#[$doc])*
            pub fn $name<A: super::Controlled>(_argument: A) {}
        )*
    };
}

/// Types whose functions exist only to be refused.
macro_rules! refused_types {
    ($($name:ident: $($function:ident),*;)*) => {
        $(
            /// Not offered.
            #[derive(Debug)]
            pub struct $name(());

            impl $name {
                $(
                    /// Not offered.
                    pub fn $function<A: super::Controlled>(_argument: A) -> Self {
                        $name(())
                    }
                )*
            }
        )*
    };
}

/// Not offered: the network.
pub mod net {
    refused_types! {
        TcpListener: bind, from_std;
        TcpStream: connect, from_std;
        UdpSocket: bind, from_std;
        UnixListener: bind;
        UnixStream: connect;
    }
    refused!(
        /// Not offered.
        lookup_host
    );
}

/// Not offered: files.
pub mod fs {
    refused_types! {
        File: open, create;
    }
    refused!(
        /// Not offered.
        read,
        /// Not offered.
        read_to_string,
        /// Not offered.
        create_dir_all,
        /// Not offered.
        remove_file,
        /// Not offered.
        metadata
    );
}

/// Not offered: processes.
pub mod process {
    refused_types! {
        Command: new;
    }
}

/// Not offered: signals.
pub mod signal {
    /// Not offered.
    pub async fn ctrl_c<A: super::Controlled>() {}
}

/// Not offered: input and output.
pub mod io {
    refused!(
        /// Not offered.
        split,
        /// Not offered.
        duplex
    );
}

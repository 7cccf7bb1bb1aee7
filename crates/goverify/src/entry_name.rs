//! Names of entries as users write them, as the helper knows them.

/// `path/to/package.(*Type).NAME` as `(*path/to/package.Type).NAME`, and `path/to/package.Type.NAME`
/// with the type in parentheses likewise; every other form as it is.
pub fn normalised_entry(name: &str) -> String {
    let Some((package, rest)) = name.split_once(".(") else { return name.to_owned() };
    let Some((receiver, method)) = rest.split_once(").") else { return name.to_owned() };
    if package.is_empty() || package.starts_with('(') {
        return name.to_owned();
    }
    match receiver.strip_prefix('*') {
        Some(receiver) => format!("(*{package}.{receiver}).{method}"),
        None => format!("({package}.{receiver}).{method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promised_form_becomes_one_that_the_helper_knows() {
        for (given, expected) in [
            ("NAME", "NAME"),
            ("NA*", "NA*"),
            ("example.com/m/p.NAME", "example.com/m/p.NAME"),
            ("example.com/m/p.(*Type).NAME", "(*example.com/m/p.Type).NAME"),
            ("example.com/m/p.(Type).NAME", "(example.com/m/p.Type).NAME"),
            ("(*example.com/m/p.Type).NAME", "(*example.com/m/p.Type).NAME"),
            ("p.(*Type", "p.(*Type"),
            (".(", ".("),
        ] {
            assert_eq!(normalised_entry(given), expected, "{given}");
        }
    }
}

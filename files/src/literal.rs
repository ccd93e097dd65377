//! The part of Python's literals that headers of `.npy` files are made of.

/// A value, and the text that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind<'a> {
    String(&'a str),
    Bool(bool),
    /// A number, if it is a size.
    Number(Option<usize>),
    Tuple(Vec<Literal<'a>>),
    List,
}

/// The entries of a dict whose keys are strings, in their order. `None` if `text` is anything else, or has
/// escapes or more than `max_nesting` levels of brackets below the dict.
pub(crate) fn dict(text: &str, max_nesting: usize) -> Option<Vec<(&str, Literal<'_>)>> {
    let mut reader = Reader { rest: text };
    let mut entries = Vec::new();
    reader.eat('{').then_some(())?;
    while !reader.eat('}') {
        let Kind::String(key) = reader.value(0)?.kind else {
            return None;
        };
        reader.eat(':').then_some(())?;
        entries.push((key, reader.value(max_nesting)?));
        if !reader.eat(',') {
            reader.eat('}').then_some(())?;
            break;
        }
    }
    reader.blanks();
    reader.rest.is_empty().then_some(entries)
}

/// Reads values from the front of a text.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes `wanted`, if it comes next.
    fn eat(&mut self, wanted: char) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, nesting: usize) -> Option<Literal<'a>> {
        self.blanks();
        let start = self.rest;
        let kind = match start.chars().next()? {
            quote @ ('\'' | '"') => Kind::String(self.string(quote)?),
            '(' => Kind::Tuple(self.tuple(nesting.checked_sub(1)?)?),
            '[' => {
                self.rest = &start[1..];
                self.items(']', nesting.checked_sub(1)?)?;
                Kind::List
            }
            _ => self.word()?,
        };
        let text = &start[..start.len() - self.rest.len()];
        Some(Literal { text, kind })
    }

    fn string(&mut self, quote: char) -> Option<&'a str> {
        let (string, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest;
        (!string.contains(['\\', '\n'])).then_some(string)
    }

    fn tuple(&mut self, nesting: usize) -> Option<Vec<Literal<'a>>> {
        self.rest = &self.rest[1..];
        let (items, ends_with_comma) = self.items(')', nesting)?;
        // One value in brackets is that value.
        (items.len() != 1 || ends_with_comma).then_some(items)
    }

    /// Values up to `end`, and whether a comma follows the last.
    fn items(&mut self, end: char, nesting: usize) -> Option<(Vec<Literal<'a>>, bool)> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.value(nesting)?);
            if !self.eat(',') {
                return self.eat(end).then_some((items, false));
            }
        }
        Some((items, true))
    }

    fn word(&mut self) -> Option<Kind<'a>> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let end = self.rest.find(|c| !is_part(c));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        match word {
            "True" => Some(Kind::Bool(true)),
            "False" => Some(Kind::Bool(false)),
            _ => word
                .trim_start_matches(['+', '-'])
                .starts_with(|c: char| c.is_ascii_digit())
                .then(|| Kind::Number(word.parse().ok())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a dict's only entry.
    fn only(text: &str) -> Option<Literal<'_>> {
        match &dict(text, 3)?[..] {
            [("k", value)] => Some(value.clone()),
            _ => None,
        }
    }

    #[test]
    fn dicts_as_numpy_writes_them() {
        let text = "{'descr': '<f4', \"fortran_order\": False, 'shape': (3, 2), }   \n";
        let entries = dict(text, 1).unwrap();
        let keys: Vec<&str> = entries.iter().map(|entry| entry.0).collect();
        assert_eq!(keys, ["descr", "fortran_order", "shape"]);
        assert_eq!(entries[0].1.kind, Kind::String("<f4"));
        assert_eq!(entries[1].1.kind, Kind::Bool(false));
        assert_eq!(entries[2].1.text, "(3, 2)");
        let Kind::Tuple(dims) = &entries[2].1.kind else {
            panic!("{entries:?}")
        };
        let dims: Vec<_> = dims.iter().map(|dim| dim.kind.clone()).collect();
        assert_eq!(dims, [Kind::Number(Some(3)), Kind::Number(Some(2))]);
        assert_eq!(dict(" { } ", 0), Some(Vec::new()));
    }

    #[test]
    fn numbers_that_are_no_sizes() {
        for number in ["-1", "1.5", "1e3", "36893488147419103232", "2L"] {
            let text = format!("{{'k': {number}}}");
            assert_eq!(only(&text).unwrap().kind, Kind::Number(None), "{number}");
        }
    }

    #[test]
    fn values_keep_their_text() {
        let fields = "[('x', '<f4', (2,)), (('t', 'y'), '<i4')]";
        let text = format!("{{'k': {fields} }}");
        let value = only(&text).unwrap();
        assert_eq!((value.text, value.kind), (fields, Kind::List));
    }

    #[test]
    fn what_is_not_such_a_dict() {
        for text in [
            "",
            "{",
            "{'k'",
            "{'k': ",
            "{'k': 1",
            "{'k': 1,",
            "{'k': 1}}",
            "{'k': 1} 2",
            "{'k' 1}",
            "{'k': 1 'l': 2}",
            "{'k': ,}",
            "{,}",
            "{1: 2}",
            "{('k',): 2}",
            "{'k': {}}",
            "{'k': (1)}",
            "{'k': (1, 2}",
            "{'k': (,)}",
            "{'k': [1, 2)}",
            "{'k': 'a\\'b'}",
            "{'k': 'a}",
            "{'k': x}",
            "{'k': é}",
            "{'k': -}",
            "{'k': ((((1,),),),)}", // four levels
            "['k', 1]",
        ] {
            assert_eq!(dict(text, 3), None, "{text}");
        }
        assert!(only("{'k': (((1,),),)}").is_some());
    }
}

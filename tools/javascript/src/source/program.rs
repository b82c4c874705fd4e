//! What the engine runs, and as which kind of program.

use oxc_ast::ast::{Expression, Statement};
use oxc_span::GetSpan;

use super::{
    edits::Edits,
    parse::Parsed,
    strip::strip,
    text::{Place, place},
};
use crate::abi::Fault;

/// The name under which a module gives the tool's function to this runtime.
pub(crate) const ENTRY: &str = "bulkhead$entry";
/// The name of a default export.
const DEFAULT: &str = "default";

/// What shall be run of a source.
pub(crate) enum Aim<'n> {
    /// The function of this name.
    Function(&'n str),
    /// All of it, for the value of its last expression.
    Value,
}

/// JavaScript with every line where the source has it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// What moved within its line.
    pub(crate) shift: Option<Shift>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its completion value is its value.
    Script,
    /// It exports, or awaits outside of functions; this export is what is wanted of it.
    Module { export: &'static str },
}

/// Characters that were put into a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shift {
    at: Place,
    by: u32,
}

impl Shift {
    /// Where the source has what stands at a place of the program.
    pub(crate) fn original(self, place: Place) -> Place {
        let mut column = place.column;
        if self.at.line == place.line && place.column > self.at.column {
            column = place.column.saturating_sub(self.by).max(self.at.column);
        }
        Place { column, ..place }
    }
}

impl Program {
    /// A program that does what `aim` says.
    pub(crate) fn new(parsed: &Parsed<'_>, aim: &Aim<'_>) -> Result<Self, Fault> {
        let stripped = strip(&parsed.program, parsed.text)?;
        let module = parsed.module || stripped.awaits || stripped.meta;
        let mut edits = stripped.edits;
        let mut shift = None;
        let mut appended = String::new();
        let mut export = DEFAULT;
        match aim {
            Aim::Function(DEFAULT) => {}
            Aim::Function(name) => {
                export = ENTRY;
                if module {
                    appended = format!("\nexport {{ {name} as {ENTRY} }};");
                }
            }
            Aim::Value if module => shift = export_last(parsed, &mut edits),
            Aim::Value => {}
        }
        let mut text = match edits.is_empty() {
            true => parsed.text.to_owned(),
            false => edits.render(parsed.text, 0, parsed.text.len()),
        };
        text.push_str(&appended);
        let kind = match module {
            true => Kind::Module { export },
            false => Kind::Script,
        };
        Ok(Self { text, kind, shift })
    }
}

/// Makes the last expression of a module its default export.
fn export_last(parsed: &Parsed<'_>, edits: &mut Edits) -> Option<Shift> {
    const BEFORE: &str = "export default (";
    let has_default = parsed
        .program
        .body
        .iter()
        .any(|statement| matches!(statement, Statement::ExportDefaultDeclaration(_)));
    let last = parsed
        .program
        .body
        .iter()
        .rev()
        .find(|statement| !matches!(statement, Statement::EmptyStatement(_)))?;
    let Statement::ExpressionStatement(statement) = last else {
        return None;
    };
    if has_default {
        return None;
    }
    let expression: &Expression<'_> = &statement.expression;
    let span = expression.span();
    edits.insert(span.start as usize, BEFORE.to_owned());
    edits.insert(span.end as usize, ")".to_owned());
    Some(Shift {
        at: place(parsed.text, span.start),
        by: u32::try_from(BEFORE.len()).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use oxc_allocator::Allocator;

    use super::{Aim, Kind, Program};
    use crate::{
        abi::{Fault, Language, Source},
        source::{parse::parse, text::Place},
    };

    fn program(language: Language, text: &str, aim: &Aim<'_>) -> Result<Program, Fault> {
        let source = Source {
            language,
            text: text.to_owned(),
            function: None,
        };
        let allocator = Allocator::default();
        Program::new(&parse(&allocator, &source)?, aim)
    }

    fn stripped(text: &str) -> String {
        program(Language::Typescript, text, &Aim::Value)
            .unwrap_or_else(|fault| panic!("{fault:?}"))
            .text
    }

    #[track_caller]
    fn becomes(typescript: &str, javascript: &str) {
        assert_eq!(stripped(typescript), javascript);
    }

    #[test]
    fn types_become_white_space() {
        becomes(
            "function f<T>(a: number, b?: string[]): T | null { return a as any; }",
            "function f   (a        , b           )           { return a       ; }",
        );
        becomes("let x!: number, w = y!.z!;", "let x         , w = y .z ;");
        becomes(
            "const f = <T,>(x: T): x is T => x satisfies T;",
            "const f =     (x   )         => x            ;",
        );
        becomes(
            "f<string>(new Map<string, number>())",
            "f        (new Map                ())",
        );
        becomes("const a = <any>b;", "const a =      b;");
        becomes(
            "function f(this: Window, a?: number) {}",
            "function f(              a         ) {}",
        );
    }

    #[test]
    fn declarations_of_types_disappear_with_their_lines_kept() {
        becomes(
            "interface A {\n  b: string;\n}\nlet c = 1",
            ";            \n            \n \nlet c = 1",
        );
        becomes("type A = 1\nf()", ";         \nf()");
        becomes("declare const x: number;\nx", ";                       \nx");
        becomes(
            "function f(a: string): void;\nfunction f(a) {}",
            ";                           \nfunction f(a) {}",
        );
        becomes(
            "import type { A } from './a';\n1",
            ";                            \nexport default (1)",
        );
    }

    #[test]
    fn a_statement_that_a_type_ended_does_not_go_on_in_the_next_line() {
        becomes("a as T\n(b)", "a;    \n(b)");
        becomes("let a: T\n[b] = c", "let a;  \n[b] = c");
        becomes("class A { a: T\n['b'] = 1 }", "class A { a;  \n['b'] = 1 }");
        becomes(
            "class A { a = 1\npublic ['b'] = 2 }",
            "class A { a = 1\n;      ['b'] = 2 }",
        );
        becomes("x = a as T\n+ 1", "x = a     \n+ 1");
    }

    #[test]
    fn the_arrow_stays_in_the_line_of_its_bracket() {
        becomes(
            "const f = (a): {\n  b: 1\n} => a",
            "const f = (a    \n      \n) => a",
        );
    }

    #[test]
    fn classes_lose_what_only_types_need() {
        becomes(
            "abstract class A<T> extends B<T> implements C, D { private readonly x?: T = 1; abstract f(): void; [k: string]: any; declare y: T }",
            "         class A    extends B                    { ;                x     = 1; ;                   ;                 ;            }",
        );
        let code =
            stripped("class A { constructor(private a: number, public readonly b = 2) { f() } }");
        assert!(code.contains("constructor(        a        ,                 b = 2) {; this.a = a; this.b = b; f() }"), "{code}");
        let code =
            stripped("class A extends B { constructor(private a: number) { super(); f() } }");
        assert!(code.contains("super();; this.a = a; f()"), "{code}");
    }

    #[test]
    fn an_enum_becomes_an_object_in_as_many_lines() {
        let code = stripped("enum A {\n  B, C = 5, D,\n  E = 'e', F = C * 2,\n}\nA.B");
        assert_eq!(code.lines().count(), 5, "{code}");
        assert!(
            code.starts_with("var A; (function (A) { A[\"B\"] = 0;"),
            "{code}"
        );
        assert!(code.contains("A[\"D\"] = 6;"), "{code}");
    }

    #[test]
    fn what_can_t_be_run_is_refused_with_its_line() {
        for (text, part) in [
            ("\nimport fs from 'fs'", "module 'fs' can't be imported"),
            ("\nexport * from './x'", "module './x' can't be imported"),
            ("\nnamespace A { export const b = 1 }", "namespace `A`"),
            ("\nexport = f", "`export =`"),
        ] {
            let fault = program(Language::Typescript, text, &Aim::Value).expect_err(text);
            assert_eq!(fault.line, Some(2), "{text}: {fault:?}");
            assert!(fault.message.contains(part), "{fault:?}");
        }
    }

    #[test]
    fn a_program_is_a_module_only_if_it_has_to_be() {
        let kind = |text: &str| {
            program(Language::Javascript, text, &Aim::Value)
                .expect(text)
                .kind
        };
        assert_eq!(kind("with (a) {}"), Kind::Script);
        assert_eq!(kind("async function f() { await 1 }"), Kind::Script);
        assert_eq!(kind("await 1"), Kind::Module { export: "default" });
        assert_eq!(
            kind("export const a = 1"),
            Kind::Module { export: "default" }
        );
    }

    #[test]
    fn the_last_expression_of_a_module_is_exported_and_its_columns_are_known() {
        let program =
            program(Language::Javascript, "await a;\nb, c", &Aim::Value).expect("it parses");
        assert_eq!(program.text, "await a;\nexport default (b, c)");
        let shift = program.shift.expect("something moved");
        let original = shift.original(Place {
            line: 2,
            column: 17,
        });
        assert_eq!(original, Place { line: 2, column: 1 });
    }
}

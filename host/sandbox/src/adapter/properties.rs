//! Properties that hold for values of every shape.

use proptest::{collection::vec, prelude::*, sample::subsequence};
use serde_json::{Value, json};
use wasmtime::component::Val;

use super::{
    input,
    integer::Integer,
    output, schema,
    shape::{Case, Field, Name, Shape},
};

/// Levels of nesting; the code for one level is the code for all.
const DEPTH: u32 = 3;
/// Parts of one shape, roughly.
const PARTS: u32 = 16;
/// Fields, cases and items at each level.
const WIDTH: usize = 4;

proptest! {
    // What a failure found belongs into a test of its own, not into a file of seeds.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_out_comes_back_as_the_same_value((shape, val) in shape_and_val()) {
        let json = output::value(&shape, &val).expect("a value of the shape");
        let fields = [Field { name: Name::new("it"), shape }];
        let back = input::fields(&fields, &json!({"it": json}));
        prop_assert_eq!(back, Ok(vec![val]));
    }

    #[test]
    fn what_goes_out_matches_the_schema((shape, val) in shape_and_val()) {
        let json = output::value(&shape, &val).expect("a value of the shape");
        let schema = schema::of(&shape);
        let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
        prop_assert!(validator.is_valid(&json), "{} against {}", json, schema);
    }

    #[test]
    fn what_is_accepted_matches_the_schema(shape in shape(), json in json_value()) {
        let fields = [Field { name: Name::new("it"), shape }];
        let schema = schema::object(&fields);
        let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
        let input = json!({"it": json});
        let read = input::fields(&fields, &input);
        prop_assert!(read.is_err() || validator.is_valid(&input), "{} against {}", input, schema);
        if let Err(problems) = read {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(input.pointer(&problem.at).is_some(), "{:?} in {}", problem, input);
            }
        }
    }
}

fn names(count: usize) -> Vec<Name> {
    (0..count)
        .map(|index| Name::new(&format!("the-name-{index}")))
        .collect()
}

fn fields(shapes: Vec<Shape>) -> Vec<Field> {
    let pairs = names(shapes.len()).into_iter().zip(shapes);
    pairs.map(|(name, shape)| Field { name, shape }).collect()
}

fn cases(shapes: Vec<Option<Shape>>) -> Vec<Case> {
    let pairs = names(shapes.len()).into_iter().zip(shapes);
    pairs.map(|(name, shape)| Case { name, shape }).collect()
}

fn option(inner: Shape) -> Shape {
    if inner.is_optional() {
        Shape::NestedOption(Box::new(Case {
            name: Name::new("some"),
            shape: Some(inner),
        }))
    } else {
        Shape::Option(Box::new(inner))
    }
}

fn result([ok, err]: [Option<Shape>; 2]) -> Shape {
    let case = |name, shape| Case {
        name: Name::new(name),
        shape,
    };
    Shape::Result(Box::new([case("ok", ok), case("err", err)]))
}

fn shape() -> impl Strategy<Value = Shape> {
    let integer = prop::sample::select(vec![
        Integer::S8,
        Integer::U8,
        Integer::S16,
        Integer::U16,
        Integer::S32,
        Integer::U32,
        Integer::S64,
        Integer::U64,
    ]);
    let leaf = prop_oneof![
        8 => integer.prop_map(Shape::Integer),
        1 => Just(Shape::Bool),
        1 => Just(Shape::Float32),
        1 => Just(Shape::Float64),
        1 => Just(Shape::Char),
        1 => Just(Shape::String),
        1 => Just(Shape::Bytes),
        1 => (1..WIDTH).prop_map(|count| Shape::Enum(names(count))),
        1 => (1..WIDTH).prop_map(|count| Shape::Flags(names(count))),
    ];
    leaf.prop_recursive(DEPTH, PARTS, WIDTH as u32, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let payload = prop::option::of(inner.clone());
        prop_oneof![
            2 => inner.clone().prop_map(option),
            1 => boxed.clone().prop_map(Shape::List),
            1 => (boxed.clone(), 1..WIDTH).prop_map(|(shape, len)| Shape::FixedList(shape, len)),
            1 => boxed.prop_map(Shape::Dictionary),
            1 => (prop::sample::select(vec![Shape::Char, Shape::Bool]), inner.clone())
                .prop_map(|(key, value)| Shape::Map(Box::new([key, value]))),
            1 => vec(inner.clone(), 0..WIDTH).prop_map(|shapes| Shape::Record(fields(shapes))),
            1 => vec(inner, 1..WIDTH).prop_map(Shape::Tuple),
            1 => vec(payload.clone(), 1..WIDTH).prop_map(|shapes| Shape::Variant(cases(shapes))),
            1 => [payload.clone(), payload].prop_map(result),
        ]
    })
}

fn shape_and_val() -> impl Strategy<Value = (Shape, Val)> {
    shape().prop_flat_map(|shape| {
        let val = val(&shape);
        (Just(shape), val)
    })
}

/// Any value of `shape`.
fn val(shape: &Shape) -> BoxedStrategy<Val> {
    match shape {
        Shape::Bool => any::<bool>().prop_map(Val::Bool).boxed(),
        Shape::Integer(Integer::S8) => any::<i8>().prop_map(Val::S8).boxed(),
        Shape::Integer(Integer::U8) => any::<u8>().prop_map(Val::U8).boxed(),
        Shape::Integer(Integer::S16) => any::<i16>().prop_map(Val::S16).boxed(),
        Shape::Integer(Integer::U16) => any::<u16>().prop_map(Val::U16).boxed(),
        Shape::Integer(Integer::S32) => any::<i32>().prop_map(Val::S32).boxed(),
        Shape::Integer(Integer::U32) => any::<u32>().prop_map(Val::U32).boxed(),
        Shape::Integer(Integer::S64) => any::<i64>().prop_map(Val::S64).boxed(),
        Shape::Integer(Integer::U64) => any::<u64>().prop_map(Val::U64).boxed(),
        Shape::Float32 => prop::num::f32::ANY.prop_map(Val::Float32).boxed(),
        Shape::Float64 => prop::num::f64::ANY.prop_map(Val::Float64).boxed(),
        Shape::Char => any::<char>().prop_map(Val::Char).boxed(),
        Shape::String => any::<String>().prop_map(Val::String).boxed(),
        Shape::Bytes => vec(any::<u8>().prop_map(Val::U8), 0..WIDTH)
            .prop_map(Val::List)
            .boxed(),
        Shape::List(element) => vec(val(element), 0..WIDTH).prop_map(Val::List).boxed(),
        Shape::FixedList(element, length) => vec(val(element), *length)
            .prop_map(Val::FixedLengthList)
            .boxed(),
        Shape::Dictionary(value) => prop::collection::btree_map(".*", val(value), 0..WIDTH)
            .prop_map(|map| {
                Val::Map(
                    map.into_iter()
                        .map(|(key, value)| (Val::String(key), value))
                        .collect(),
                )
            })
            .boxed(),
        Shape::Map(pair) => vec((val(&pair[0]), val(&pair[1])), 0..WIDTH)
            .prop_map(Val::Map)
            .boxed(),
        Shape::Record(fields) => {
            let names: Vec<_> = fields.iter().map(|field| field.name.wit.clone()).collect();
            let vals: Vec<_> = fields.iter().map(|field| val(&field.shape)).collect();
            vals.prop_map(move |vals| Val::Record(names.iter().cloned().zip(vals).collect()))
                .boxed()
        }
        Shape::Tuple(elements) => elements
            .iter()
            .map(val)
            .collect::<Vec<_>>()
            .prop_map(Val::Tuple)
            .boxed(),
        Shape::Variant(cases) => one_of(cases)
            .prop_map(|(name, value)| Val::Variant(name, value.map(Box::new)))
            .boxed(),
        Shape::Result(cases) => one_of(cases.as_slice())
            .prop_map(|(name, value)| {
                let value = value.map(Box::new);
                Val::Result(if name == "ok" { Ok(value) } else { Err(value) })
            })
            .boxed(),
        Shape::Enum(names) => prop::sample::select(wit(names)).prop_map(Val::Enum).boxed(),
        Shape::Flags(names) => {
            let names = wit(names);
            let count = names.len();
            subsequence(names, 0..=count).prop_map(Val::Flags).boxed()
        }
        Shape::Option(inner) => maybe(val(inner)),
        Shape::NestedOption(some) => match &some.shape {
            Some(inner) => maybe(val(inner)),
            None => Just(Val::Option(None)).boxed(),
        },
    }
}

fn wit(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.wit.clone()).collect()
}

fn maybe(inner: BoxedStrategy<Val>) -> BoxedStrategy<Val> {
    prop::option::of(inner)
        .prop_map(|value| Val::Option(value.map(Box::new)))
        .boxed()
}

/// A case of a variant with a value for it.
fn one_of(cases: &[Case]) -> BoxedStrategy<(String, Option<Val>)> {
    let options = cases.iter().map(|case| {
        let name = case.name.wit.clone();
        match &case.shape {
            Some(shape) => val(shape)
                .prop_map(move |val| (name.clone(), Some(val)))
                .boxed(),
            None => Just((name, None)).boxed(),
        }
    });
    prop::strategy::Union::new(options.collect::<Vec<_>>()).boxed()
}

/// JSON of all kinds, with names and texts that shapes know among it.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "(NaN|-?Infinity|-?[0-9]{1,21}|[A-Za-z0-9+/]{0,5}=?|the_name_[0-3])".prop_map(Value::from),
    ];
    leaf.prop_recursive(DEPTH, PARTS, WIDTH as u32, |inner| {
        let name = "(the_name_[0-3]|tag|value|a/b~)";
        prop_oneof![
            vec(inner.clone(), 0..WIDTH).prop_map(Value::from),
            prop::collection::btree_map(name, inner.clone(), 0..WIDTH)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            ("(the_name_[0-3]|ok|err|some)", prop::option::of(inner)).prop_map(|(tag, value)| {
                match value {
                    Some(value) => json!({"tag": tag, "value": value}),
                    None => json!({"tag": tag}),
                }
            }),
        ]
    })
}

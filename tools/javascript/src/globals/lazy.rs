//! Properties of the global object that are made when they are first read.
//!
//! They stay accessors: the engine remembers at each place of a program how a property is read,
//! and does not notice when an accessor of the global object becomes a value.

use boa_engine::{
    Context, JsArgs, JsResult, JsString, JsValue, NativeFunction,
    gc::{Gc, GcRefCell},
    object::FunctionObjectBuilder,
    property::PropertyDescriptor,
};

/// Makes the value of a name.
type Make = fn(&'static str, &mut Context) -> JsResult<JsValue>;

/// A value, once it was made.
type Made = Gc<GcRefCell<Option<JsValue>>>;

/// Puts a name into scope whose value `make` makes.
pub(super) fn lazy(name: &'static str, make: Make, context: &Context) {
    let made: Made = Gc::new(GcRefCell::new(None));
    let get = NativeFunction::from_copy_closure_with_captures(
        move |_, _, made: &Made, context| {
            let known = made.borrow().clone();
            if let Some(value) = known {
                return Ok(value);
            }
            let value = make(name, context)?;
            *made.borrow_mut() = Some(value.clone());
            Ok(value)
        },
        made.clone(),
    );
    let set = NativeFunction::from_copy_closure_with_captures(
        |_, args, made: &Made, _| {
            *made.borrow_mut() = Some(args.get_or_undefined(0).clone());
            Ok(JsValue::undefined())
        },
        made,
    );
    let accessor = PropertyDescriptor::builder()
        .get(FunctionObjectBuilder::new(context.realm(), get).build())
        .set(FunctionObjectBuilder::new(context.realm(), set).build())
        .enumerable(false)
        .configurable(true)
        .build();
    context
        .global_object()
        .insert_property(JsString::from(name), accessor);
}

/// A property that programs may replace, and that listings leave out.
pub(super) fn data(value: JsValue) -> PropertyDescriptor {
    PropertyDescriptor::builder()
        .value(value)
        .writable(true)
        .enumerable(false)
        .configurable(true)
        .build()
}

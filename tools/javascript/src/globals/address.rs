//! The native half of `URL`: addresses are read and changed as the standard says.

use boa_engine::{Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, object::JsObject};
use url::{Url, quirks};

use crate::engine::object;

/// `parse(address, base)`: the parts of an address, or null for one that is none.
pub(super) fn parse(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let address = text(args, 0, context)?;
    let parsed = match args.get_or_undefined(1) {
        base if base.is_undefined() => Url::parse(&address),
        base => {
            let base = base.to_string(context)?.to_std_string_lossy();
            Url::parse(&base).and_then(|base| base.join(&address))
        }
    };
    match parsed {
        Ok(url) => Ok(parts(&url, context)?.into()),
        Err(_) => Ok(JsValue::null()),
    }
}

/// `set(address, part, value)`: the parts of the address with one changed; unchanged if the value
/// does not fit.
pub(super) fn set(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let address = text(args, 0, context)?;
    let part = text(args, 1, context)?;
    let value = text(args, 2, context)?;
    let mut url =
        Url::parse(&address).map_err(|_| JsNativeError::typ().with_message("Invalid URL"))?;
    let fits = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).is_ok(),
        "protocol" => quirks::set_protocol(&mut url, &value).is_ok(),
        "username" => quirks::set_username(&mut url, &value).is_ok(),
        "password" => quirks::set_password(&mut url, &value).is_ok(),
        "host" => quirks::set_host(&mut url, &value).is_ok(),
        "hostname" => quirks::set_hostname(&mut url, &value).is_ok(),
        "port" => quirks::set_port(&mut url, &value).is_ok(),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            true
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            true
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            true
        }
        _ => false,
    };
    if part == "href" && !fits {
        return Err(JsNativeError::typ().with_message("Invalid URL").into());
    }
    Ok(parts(&url, context)?.into())
}

fn parts(url: &Url, context: &mut Context) -> JsResult<JsObject> {
    let parts = object(context);
    let origin = quirks::origin(url);
    for (name, value) in [
        ("href", quirks::href(url)),
        ("origin", origin.as_str()),
        ("protocol", quirks::protocol(url)),
        ("username", quirks::username(url)),
        ("password", quirks::password(url)),
        ("host", quirks::host(url)),
        ("hostname", quirks::hostname(url)),
        ("port", quirks::port(url)),
        ("pathname", quirks::pathname(url)),
        ("search", quirks::search(url)),
        ("hash", quirks::hash(url)),
    ] {
        parts.create_data_property(JsString::from(name), JsString::from(value), context)?;
    }
    Ok(parts)
}

fn text(args: &[JsValue], index: usize, context: &mut Context) -> JsResult<String> {
    let value = args.get_or_undefined(index).to_string(context)?;
    Ok(value.to_std_string_lossy())
}

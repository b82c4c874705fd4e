//! Signed texts: RFC 7515's compact form with HMAC-SHA-256, and one header.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::TokenError;

/// `{"alg":"HS256","typ":"JWT"}`. There is no other: what begins with another one is not ours.
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

/// Header, payload and signature, each in base64, with dots between them.
pub(super) fn sign(key: &[u8], payload: &[u8]) -> String {
    let mut token = format!("{HEADER}.");
    URL_SAFE_NO_PAD.encode_string(payload, &mut token);
    let signature = mac(key, token.as_bytes()).finalize().into_bytes();
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    token
}

/// The payload of a token that this key signed. Nothing of it is read before.
pub(super) fn verified(key: &[u8], token: &str) -> Result<Vec<u8>, TokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, payload) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    if payload.contains('.') {
        return Err(TokenError::Malformed);
    }
    if header != HEADER {
        return Err(TokenError::Forged);
    }
    let decode = |text| {
        let bytes = URL_SAFE_NO_PAD.decode(text);
        bytes.map_err(|_| TokenError::Malformed)
    };
    // In a time that says nothing about where a difference is.
    mac(key, signed.as_bytes())
        .verify_slice(&decode(signature)?)
        .map_err(|_| TokenError::Forged)?;
    decode(payload)
}

fn mac(key: &[u8], signed: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(signed);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_other_implementations_make_of_the_same() {
        // The example that is known from the debugger of jwt.io.
        let payload = br#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#;
        let expected = concat!(
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
            "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.",
            "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        );
        let key = b"your-256-bit-secret";
        assert_eq!(sign(key, payload), expected);
        assert_eq!(verified(key, expected).as_deref(), Ok(&payload[..]));
    }
}

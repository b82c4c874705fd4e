import email
from email import policy
from email.message import EmailMessage


def read_mail(source: str) -> dict:
    """Read an e-mail.

    Args:
        source (str): The mail as it came.
    """
    message = email.message_from_string(source, policy=policy.default)
    reply = EmailMessage()
    reply["Subject"] = "Re: " + message["subject"]
    reply["To"] = message["from"]
    reply.set_content("Danke schön\n")
    return {
        "from": message["from"].addresses[0].addr_spec,
        "subject": message["subject"],
        "body": message.get_body(("plain",)).get_content().strip(),
        "reply": reply.as_string().splitlines()[:2],
    }

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class Account(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, extra="forbid")

    name: str = Field(min_length=2, max_length=20)
    age: int = Field(ge=18, le=120)
    password: str = Field(min_length=8)
    repeated: str
    tags: Dict[str, int] = {}

    @model_validator(mode="after")
    def same(self):
        if self.password != self.repeated:
            raise ValueError("the passwords differ")
        return self


def sign_up(form: dict) -> dict:
    """Check the form of a new account.

    Args:
        form (dict): What was filled in.
    """
    try:
        account = Account.model_validate(form)
    except ValidationError as error:
        return {
            "count": error.error_count(),
            "problems": [
                {"at": ".".join(map(str, part["loc"])), "type": part["type"], "message": part["msg"]}
                for part in error.errors()
            ],
        }
    return {"account": account.model_dump(exclude={"password", "repeated"})}

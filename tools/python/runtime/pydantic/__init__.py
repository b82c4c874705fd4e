"""A stand-in for pydantic, written in Python alone.

pydantic's own core is native code, which can't run in a sandbox. This package has the same names in
the style of its second version, as far as tools use them, with the same results and error texts.
"""

from . import dataclasses
from .adapter import TypeAdapter, parse_obj_as, validate_call
from .config import ConfigDict, Extra
from .dumping import PydanticSerializationError, SerializationInfo
from .errors import (
    PydanticImportError, PydanticSchemaGenerationError, PydanticUndefinedAnnotation,
    PydanticUserError, ValidationError,
)
from .fields import AliasChoices, AliasPath, Field, PrivateAttr, computed_field
from .functional import (
    AfterValidator, BeforeValidator, FieldValidationInfo, InstanceOf, PlainSerializer,
    PlainValidator, SkipValidation, ValidationInfo, WrapSerializer, WrapValidator,
    field_serializer, field_validator, model_serializer, model_validator, root_validator, validator,
)
from .main import BaseModel, create_model
from .root_model import RootModel
from .types import (
    UUID1, UUID3, UUID4, UUID5, AnyHttpUrl, AnyUrl, AwareDatetime, DirectoryPath, EmailStr,
    FilePath, FiniteFloat, FutureDate, FutureDatetime, HttpUrl, Json, NaiveDatetime, NegativeFloat,
    NegativeInt, NonNegativeFloat, NonNegativeInt, NonPositiveFloat, NonPositiveInt, PastDate,
    PastDatetime, PositiveFloat, PositiveInt, SecretBytes, SecretStr, StrictBool, StrictBytes,
    StrictFloat, StrictInt, StrictStr, StringConstraints, condecimal, confloat, conint, conlist,
    conset, constr,
)

VERSION = __version__ = "2.13.0"
"""The version whose behaviour this package follows."""

validate_arguments = validate_call

__all__ = [name for name in globals() if not name.startswith("_")]

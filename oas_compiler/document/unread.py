"""What the readers of a document could not take, as facts that rules ask for.

A rule says nothing about a place that was reported already.  It asks the subject for the places, and
knows neither codes nor sentences of other findings:

    subject.unread(Unread.KIND_OF_VALUE)  ->  frozenset({"/nodes/3"})
"""

from __future__ import annotations

from enum import Enum


class Unread(Enum):
    """One way in which a place of the document cannot be read; its value is the finding's code."""

    UNKNOWN_REFERENCE = "OAS010"
    CIRCULAR_REFERENCE = "OAS011"
    REFERENCE_NOT_TEXT = "OAS013"
    KIND_OF_COMPONENT = "OAS014"
    YAML_WORD = "OAS018"
    """A word such as `yes` that readers of YAML understand differently."""
    KIND_OF_VALUE = "OAS022"
    MISSING = "OAS023"
    VERSION = "OAS025"
    COMPONENT_TYPE = "OAS026"
    KIND_REFUSED = "OAS055"
    """The package that adds the type of the component cannot be used."""
    SCHEMA_TYPE = "OAS037"
    START_INPUTS = "OAS068"
    """The inputs of a flow and of its StartNode differ."""
    TEMPLATE = "OAS080"
    TEMPLATE_NAME = "OAS081"
    """A template uses a name that is no input."""

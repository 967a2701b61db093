"""Descriptions of tables before a search, with findings on what matters for it."""

from sges.tools.inspect.description import Description as Description
from sges.tools.inspect.description import Finding as Finding
from sges.tools.inspect.inspection import inspect as inspect

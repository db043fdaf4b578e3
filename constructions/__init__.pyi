from constructions.api import LoadedModel as LoadedModel
from constructions.api import Result as Result
from constructions.api import load as load

SETS_THREADS: bool
THREADS: str
__version__: str
__all__ = ["LoadedModel", "Result", "load"]

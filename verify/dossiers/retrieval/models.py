"""The models of all four tasks: each by the names of its task and model, and the Transformers by those of their tasks."""

from collections.abc import Mapping

from constructions import counting, index, ngram, recall
from constructions.retrieval.retriever import Retriever

MODELS: Mapping[tuple[str, str], Retriever] = {
    one.names: one for module in (index, recall, ngram, counting) for one in module.DOOR.wirings.values()
}
RETRIEVERS: Mapping[str, Retriever] = {task: one for (task, model), one in MODELS.items() if model == "transformer"}

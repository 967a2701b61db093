"""The paper's oracle: the MDL score of so many records, without any record.

Where a score counts records, the oracle puts the probabilities of the generative network:
the expected log-likelihood of a family is records · (H(parents) − H(parents, y)), a
difference of entropies.  The score of a family is that, less ½ ln(records) for each of its
(r_y − 1)·∏ r_p free parameters.  Entropies belong to *sets* of variables, and are kept: n·2ⁿ⁻¹
families on n variables need only 2ⁿ of them.

Paper: Section 5, oracle score.
"""

from math import log, prod

from scipy.special import entr

from sges.errors import ScoreError
from sges.network.discrete import BayesianNetwork
from sges.nodeset import NodeSet, nodes


class OracleMDL:
    """Expected MDL (= BIC, with our sign) of a discrete network for a number of records.

    >>> from sges.graph.pdag import PDAG
    >>> chain = BayesianNetwork.random(PDAG.from_edges(3, [(0, 1), (1, 2)]), seed=1)
    >>> score = OracleMDL(chain)
    >>> score.local(2, 0b10) > score.local(2, 0b11) > score.local(2, 0b01) > score.local(2, 0)
    True

    Paper: Section 5, oracle score.
    """

    def __init__(self, network: BayesianNetwork, records: float = 5e9) -> None:
        if not 1 <= records < float("inf"):
            raise ScoreError(f"records {records}: the oracle needs at least one, and finitely many")
        self.network = network
        self.records = float(records)
        self.names = network.names
        self._arities = network.arities
        self._per_parameter = 0.5 * log(records)
        self._entropies: dict[NodeSet, float] = {0: 0.0}

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.network.n

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the expected MDL of a family."""
        larger = self._entropy(parents | 1 << y)  # first: the other is added up from its table
        parameters = (self._arities[y] - 1) * prod(self._arities[p] for p in nodes(parents))
        gained = self._entropy(parents) - larger
        return self.records * gained - self._per_parameter * parameters

    def _entropy(self, variables: NodeSet) -> float:
        """Return the entropy, in nats, of the joint distribution of some variables."""
        known = self._entropies.get(variables)
        if known is None:
            known = float(entr(self.network.marginal(nodes(variables))).sum())
            self._entropies[variables] = known
        return known

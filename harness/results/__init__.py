"""What machines write: materials, transcripts, results; canonical JSON out, typed in.

Protocols are handed the materials and give transcripts and numbers; reports read them. Every value
that can be undefined is null with its reason, every mean names its n.
"""

from harness.results.answers import AnswerCounts as AnswerCounts
from harness.results.answers import Answers as Answers
from harness.results.canonical import Comparison as Comparison
from harness.results.canonical import Difference as Difference
from harness.results.canonical import canonical as canonical
from harness.results.canonical import compared as compared
from harness.results.canonical import is_grown as is_grown
from harness.results.canonical import read_results as read_results
from harness.results.cell_names import address_part as address_part
from harness.results.cell_names import name_part as name_part
from harness.results.cell_names import slug as slug
from harness.results.ddft import CellKey as CellKey
from harness.results.ddft import CellResult as CellResult
from harness.results.ddft import Exchange as Exchange
from harness.results.ddft import Level as Level
from harness.results.ddft import Results as Results
from harness.results.ddft import Score as Score
from harness.results.ddft import SubjectMetrics as SubjectMetrics
from harness.results.ddft import Transcript as Transcript
from harness.results.ddft import Turn as Turn
from harness.results.depthcharge import EVD as EVD
from harness.results.depthcharge import TIERS as TIERS
from harness.results.depthcharge import Depth as Depth
from harness.results.depthcharge import DrillResults as DrillResults
from harness.results.depthcharge import DrillTranscript as DrillTranscript
from harness.results.depthcharge import Lookups as Lookups
from harness.results.depthcharge import Passage as Passage
from harness.results.depthcharge import Passes as Passes
from harness.results.depthcharge import Probe as Probe
from harness.results.depthcharge import ProbeWords as ProbeWords
from harness.results.depthcharge import Rise as Rise
from harness.results.depthcharge import RunKey as RunKey
from harness.results.depthcharge import RunMetrics as RunMetrics
from harness.results.depthcharge import RunResult as RunResult
from harness.results.depthcharge import Share as Share
from harness.results.depthcharge import tier_of as tier_of
from harness.results.depthcharge import tier_pass as tier_pass
from harness.results.fallbacks import Fallback as Fallback
from harness.results.fallbacks import Fallbacks as Fallbacks
from harness.results.fallbacks import Replies as Replies
from harness.results.gold import Gold as Gold
from harness.results.gold import GoldAnswer as GoldAnswer
from harness.results.gold import GoldFact as GoldFact
from harness.results.materials import Concept as Concept
from harness.results.materials import Materials as Materials
from harness.results.materials import Price as Price
from harness.results.materials import Prices as Prices
from harness.results.materials import TrapEntry as TrapEntry
from harness.results.materials import TrapPool as TrapPool
from harness.results.materials import read_materials as read_materials
from harness.results.shared import RESULTS_VERSION as RESULTS_VERSION
from harness.results.shared import Interval as Interval
from harness.results.shared import Missing as Missing
from harness.results.shared import ModelCost as ModelCost
from harness.results.shared import Spending as Spending
from harness.results.shared import Usage as Usage
from harness.results.shared import Value as Value

"""Every deliberate exception: where it arose, what was required, what came and the remedy.

CertiformerError
+-- UsageError            wrong usage or unreadable input: exit status 2
|   +-- SelectorError     no claim matches
|   +-- ClaimFileError    a claims file cannot be imported
|   +-- ClaimError        a claim is stated wrongly
|   +-- MachineFormatError
|   +-- CheckpointError   a file from which a run cannot go on
|   +-- WeightsError      a file of weights that cannot be read as a target
|   +-- OutputError       an output folder cannot be written
|   +-- RecordError       a run's folder cannot be read
|   +-- LedgerError       a file in the ledger's place that is not ours to write
+-- SizeError             a size out of its range
+-- ShapeError            matrices that do not fit
+-- InexactError          a float where an exact number is required
+-- PrecisionError        an enclosure too wide for what is asked of it
+-- GoalError             SMT-LIB text that cannot be read or interpreted
+-- CertificateError      evidence that is not what it should be
+-- MethodError           a method that broke its contract
+-- WorkerError           a worker process that died, hung or outgrew its memory
"""


class CertiformerError(Exception):
    """Root of all deliberate exceptions of the project."""


class UsageError(CertiformerError):
    """Wrong usage or unreadable input; the command line ends with status 2."""


class SelectorError(UsageError):
    """A selector that matches no claim."""


class ClaimFileError(UsageError):
    """A file or package with claims that cannot be imported."""


class ClaimError(UsageError):
    """A claim that is stated wrongly: no docstring, a duplicate id, an unknown id in `uses`."""


class MachineFormatError(UsageError):
    """A machine's text that does not follow its format."""


class CheckpointError(UsageError):
    """A checkpoint that is no place in the asked run."""


class WeightsError(UsageError):
    """A file of weights that does not hold a target, or not whole."""


class OutputError(UsageError):
    """An output folder that cannot be written."""


class RecordError(UsageError):
    """A run's folder whose record or certificates cannot be read."""


class LedgerError(UsageError):
    """A file in the ledger's place that another program or a newer version wrote."""


class SizeError(CertiformerError):
    """A size outside the range in which the construction is defined."""


class ShapeError(CertiformerError):
    """Matrices whose shapes do not fit the operation."""


class InexactError(CertiformerError):
    """A number that is not exact where exact numbers are required."""


class PrecisionError(CertiformerError):
    """An enclosure too wide, at its precision, for what is asked of it."""


class DisagreementError(CertiformerError):
    """Two engines that must agree gave different answers, both of which it names."""


class GoalError(CertiformerError):
    """SMT-LIB text that cannot be read, or that an interpretation does not cover."""


class CertificateError(CertiformerError):
    """Evidence that is malformed, or that does not show what it should."""


class MethodError(CertiformerError):
    """A method that reported above its ceiling, or that was given nothing to check."""


class WorkerError(CertiformerError):
    """A worker process that died, passed its time or passed its memory."""

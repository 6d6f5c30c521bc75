"""Training: one loop that is checkpointed, resumable and reproducible.

loop             the training loop, and the plan of a run
learner          what changes in a run: weights, their EMA, optimizer, progress
gradients        the gradient of a batch: plain, by truncated BPTT, of stateful batches
optimizers       optimizers by name
schedules        learning-rate warm-ups and decays
teacher_forcing  scheduled sampling
checkpoints      saving and restoring a learner
events           the event log, and what asks a run to stop
callbacks        code of the user's own that is called during training and may stop it
trackers         TensorBoard, MLflow and Weights & Biases as mirrors of the events
recorder         histograms of gradients and updates
machine          the memory that a model takes, and the number of CPU threads
"""

from atento.training.callbacks import Callback, EarlyStopping, Training
from atento.training.checkpoints import load_checkpoint, save_checkpoint
from atento.training.events import EventCallback, EventLog, read_events
from atento.training.learner import Learner, Progress, WeightEMA, new_learner
from atento.training.loop import Plan, train, validate_training
from atento.training.optimizers import OPTIMIZERS
from atento.training.recorder import Recorder
from atento.training.schedules import DECAYS, WARM_UPS, learning_rate

__all__ = [
    "DECAYS",
    "OPTIMIZERS",
    "WARM_UPS",
    "Callback",
    "EarlyStopping",
    "EventCallback",
    "EventLog",
    "Learner",
    "Plan",
    "Progress",
    "Recorder",
    "Training",
    "WeightEMA",
    "learning_rate",
    "load_checkpoint",
    "new_learner",
    "read_events",
    "save_checkpoint",
    "train",
    "validate_training",
]

"""What the process imports that workers with wrong clocks are forks of; nothing else imports it."""

from tests.worker.skewed_worker import patch_wall_clock

patch_wall_clock()  # before the imports, so that no module holds the functions that are right

import switchyard_worker.__main__  # noqa: E402, F401

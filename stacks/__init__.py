"""The CDK stacks.

They import `switchyard`, which functions get as a layer. The layer's folder is put on the search
path here, so that `cdk deploy` needs the packages of `requirements.txt` and nothing else.
"""

import sys
from pathlib import Path

SHARED_CODE = str(Path(__file__).resolve().parents[1] / "layers" / "shared" / "python")

if SHARED_CODE not in sys.path:
    sys.path.insert(0, SHARED_CODE)

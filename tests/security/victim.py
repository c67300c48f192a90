"""The program of the task that runs beside the attackers and must not be harmed."""

from typing import Final

from tests.security import planted_secrets

VICTIM: Final = f"""
import json, signal
secret = "{planted_secrets.TENANTS}"
(folder / "artifacts" / "secret").write_text(secret)
os.environ["TENANTS_SECRET"] = secret
written = Path(given["found"], "victim.new")
written.write_text(json.dumps({{"victim": os.getpid(), "victims_folder": str(folder)}}))
written.chmod(0o644)
written.rename(written.with_name("victim.json"))
while not Path(given["found"], "end").exists():
    time.sleep(0.05)
intact = (folder / "artifacts" / "secret").read_text() == secret
names = sorted(entry.name for entry in (folder / "artifacts").iterdir())
answer(json.dumps({{"status": "completed", "output": {{"intact": intact, "names": names}}}}))
"""

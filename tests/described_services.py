"""Lets all AWS clients of a process, and of its forks, share what botocore reads about services.

Every session reads it anew otherwise, which takes most of the time that it takes to make a client.
"""

from typing import Any, get_args

import boto3
import botocore.session
from botocore.loaders import create_loader

from switchyard.adapters.aws_services import Service


def read_descriptions_once() -> None:
    """Read the descriptions of all services that we call, for sessions that are made later too."""
    loader = create_loader()
    patched: Any = botocore.session
    patched.create_loader = lambda _search_path: loader
    session = boto3.Session("-", "-", region_name="us-east-1")
    for service in get_args(Service):
        session.client(service)

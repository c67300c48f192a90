"""The parts of the API beside its routes: read bodies, refuse requests, describe the API."""

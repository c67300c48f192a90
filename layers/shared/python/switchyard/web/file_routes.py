"""The route of the API by which the files of jobs are uploaded."""

from collections.abc import Callable

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from switchyard.contracts.files import FileContent, UploadLink
from switchyard.usecases.jobs.job_files import Uploads


def add_file_routes(app: APIGatewayHttpResolver, uploads: Callable[[], Uploads]) -> None:
    @app.post("/files")
    def post_file(request: FileContent) -> UploadLink:
        tenant = app.current_event.request_context.authorizer.get_lambda["tenant"]
        return uploads().request(str(tenant), request)

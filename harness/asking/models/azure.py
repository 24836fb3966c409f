"""Azure OpenAI: chat completions of a deployment.

POST {base_url}/openai/deployments/{model}/chat/completions?api-version=..., the key in `api-key`
(Azure OpenAI REST reference, data plane inference).
"""

from __future__ import annotations

from urllib.parse import quote

from harness.asking.models.openai import OpenAI
from harness.asking.models.provider import Endpoint


class Azure(OpenAI):
    """Chat completions of a deployment; its name stands in the place of the model's."""

    key_header = ("api-key", "{key}")
    address_variables = ()

    def url(self, endpoint: Endpoint) -> str:
        """Return the deployment's address, with the API version as its query."""
        deployment = quote(endpoint.model, safe="")
        return (
            f"{endpoint.base_url.rstrip('/')}/openai/deployments/{deployment}/chat/completions"
            f"?api-version={endpoint.api_version}"
        )

    def entry_problem(self, endpoint: Endpoint) -> str:
        """Return what is wrong with the API version, which stands in the address."""
        if not endpoint.api_version:
            return 'provider "azure" needs an api_version, such as "2024-10-21"'
        if "api-version" in endpoint.query:
            return 'provider "azure": api_version says it; leave it out of query'
        return ""


PROVIDER = Azure()

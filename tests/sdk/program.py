"""A user's program: it asks an SDK once, through a recording and without a network.

Arguments: openai or anthropic, httpx or httpx2, sync or async, cassette, base URL, prompt.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from operator import attrgetter
from typing import Any

from harness.recording.guard import close
from harness.recording.transport import RecordingTransport

CLIENTS = {"openai": ("OpenAI", "AsyncOpenAI"), "anthropic": ("Anthropic", "AsyncAnthropic")}
CREATE = {"openai": "chat.completions.create", "anthropic": "messages.create"}


def ask(sdk: str, client: Any, prompt: str) -> Any:
    """Give the reply, or of an async client its coroutine."""
    messages = [{"role": "user", "content": prompt}]
    create = attrgetter(CREATE[sdk])(client)
    return create(model="subject-a", max_tokens=99, messages=messages)


async def ask_async(sdk: str, client: Any, prompt: str) -> Any:
    """Wait for an async client's reply."""
    return await ask(sdk, client, prompt)


def main() -> None:
    """Print the reply; whatever goes wrong, go on."""
    sdk, library, face, path, url, prompt = sys.argv[1:]
    asynchronous = face == "async"
    close()
    http = getattr(importlib.import_module(library), "AsyncClient" if asynchronous else "Client")
    sdk_client = getattr(importlib.import_module(sdk), CLIENTS[sdk][asynchronous])
    transport = RecordingTransport(path)
    client = sdk_client(api_key="none", base_url=url, http_client=http(transport=transport))
    try:
        if asynchronous:
            reply = asyncio.run(ask_async(sdk, client, prompt))
        else:
            reply = ask(sdk, client, prompt)
        print(reply.model_dump_json())
    except Exception as error:
        print("swallowed", error)
    print("went on")


if __name__ == "__main__":
    main()

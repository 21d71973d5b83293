"""`POST /api/llm-bridge`: the route through which a flow of Cinatra asks a language model.

answer_scripts.py      models that answer from a file, offline, for the route, LlmNodes and Agents
bridge_route.py        `LlmBridge`, the function of the route; its text and attachments (a seam)
conversation_steps.py  the conversation: steps, calls of tools, the answer by its schema, mended
                       once
model_offers.py        the models that a host offers; the choice among them, or the reason why none answers
request_body.py        the request, read strictly
toolboxes.py           the tools that a host lets the model call

    bridge = LlmBridge(Offer.of([ModelConfig(type="LlmConfig", provider="openai", model="gpt-5-mini")]))
    RoutedPlatform({"POST /api/llm-bridge": bridge})

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""

from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import only, script, told

CODE = "OAS186"


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("a.py", "import requests\n", 1, 8),
        ("a.py", "from urllib.request import urlopen\n", 1, 1),
        ("a.py", "import http.client\n", 1, 8),
        ("a.py", "import subprocess\nsubprocess.check_output('curl -s x', shell=True)\n", 2, 25),
        ("a.mjs", "const a = await fetch('https://x')\n", 1, 17),
        ("a.ts", "import axios from 'axios';\n", 1, 19),
        ("a.js", "const https = require('node:https')\n", 1, 23),
        ("a.js", "new XMLHttpRequest()\n", 1, 5),
        ("a.sh", "DATA=$(curl -s https://x)\n", 1, 8),
        ("a.sh", "wget https://x\n", 1, 1),
    ],
)
def test_a_call_out_of_a_script_is_a_warning(tmp_path, name, text, line, column):
    package = script(tmp_path, text, f"scripts/{name}")
    assert told(package, CODE) == [(f"scripts/{name}", line, column)]
    assert only(package, CODE).severity == "warning"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "from urllib.parse import quote\n"),
        ("a.py", "import http\n"),
        ("a.py", "def fetch(): ...\nfetch()\n"),
        ("a.mjs", "// fetch('x')\n"),
        ("a.mjs", "cache.fetch('x')\n"),
        ("a.mjs", "prefetch('x')\n"),
        ("a.mjs", "function fetch(x) {}\n"),
        ("a.mjs", "const fetch = 1\n"),
        ("a.sh", "echo curl\n"),
        ("a.sh", "# curl x\n"),
    ],
)
def test_what_only_looks_like_one_is_fine(tmp_path, name, text):
    assert told(script(tmp_path, text, f"scripts/{name}"), CODE) == []

"""Code without comments and strings: as long as the text, and every place where it was."""

from __future__ import annotations

import pytest

from oas_compiler.package.package_programs import javascript_code, python_code, shell_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('f("a b") // f', 'f("   ")     '),
        ("a /* b\nc */ d", "a     \n     d"),
        ("a = 'it\\'s'; b", "a = '     '; b"),
        ("`x ${f('y')} z` + 1", "`  ${f(' ')}  ` + 1"),
        ("`${`${a}`}b` c", "`${`${a}`} ` c"),
        ("x = /[/\"]+/g; 'a'", "x = /     /g; ' '"),
        ("a = b / c; d / e", "a = b / c; d / e"),
        ("(a) / b; '/'", "(a) / b; ' '"),
        ("return /'/;", "return / /;"),
        ("'open\nb", "'    \nb"),
        ("`open\nb", "`    \n "),
        ("/* open", "       "),
        ("} `a` }", "} ` ` }"),
    ],
)
def test_javascript(text, code):
    assert javascript_code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a # b", "a    "),
        ("'#' # '", "' '    "),
        ('"""a\n"b" # c"""d', '"   \n         "d'),
        ("'''a''' b", "'     ' b"),
        ("'open\nb", "'    \nb"),
        ("r'\\' b'", "r'    '"),
    ],
)
def test_python(text, code):
    assert python_code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a # b", "a    "),
        ("a#b", "a#b"),
        ("$# 'a b'", "$# '   '"),
        ('"$(a)"', '"$(a)"'),
        ("'open", "'    "),
    ],
)
def test_shell(text, code):
    assert shell_code(text) == code


@pytest.mark.parametrize("read", [javascript_code, python_code, shell_code])
@pytest.mark.parametrize(
    "piece", ["/", "/[", "/*", "`", "`${", "{", "}", '"', "'", "\\", '"""', "#", "(/", "\n", "$("]
)
def test_whatever_is_repeated_keeps_its_length_and_its_lines(read, piece):
    text = piece * 5_000
    code = read(text)
    assert len(code) == len(text)
    assert code.count("\n") == text.count("\n")

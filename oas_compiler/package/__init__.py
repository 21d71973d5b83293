"""A package folder around a flow file: manifest, skills, scripts, children.

package.py       package.json and what lies beside it;  files.py  the files of a package
skill.py         SKILL.md;  scripts.py script_code.py  what scripts call
declared.py      child agents that a package declares;  ranges.py  version ranges of npm
"""

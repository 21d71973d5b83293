"""A package folder around a flow file: manifest, skills, scripts, children.

package.py           package.json and what lies beside it; the files of a package
dependencies.py      child agents that a package declares; version ranges of npm
package_programs.py  what scripts call
skill.py             SKILL.md
"""

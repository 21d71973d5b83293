"""A package folder around a flow file: manifest, skills, scripts, children.

package.py           package.json, and the other files of the package
dependencies.py      child agents that a package declares; npm's version ranges
package_programs.py  the programs of a package as text, never run
skill.py             SKILL.md
"""

"""The tools that rules use to draft findings: places in the user's code, words for what happened there, and edits.

From the facts of a run (`base`), a rule finds places (`places`), says what is wrong there (`words`) and fixes it
(`edits`); each of these may use the ones before it. `judging` decides what becomes of the drafts of all rules.
"""

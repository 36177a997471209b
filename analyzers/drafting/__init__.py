"""What rules draft findings with: places in the user's code, words for what happened there, and edits.

Of the facts of a run (`base`) a rule finds places (`places`), says what is wrong there (`words`) and mends it
(`edits`), each of which knows those before it. What becomes of the drafts of all rules is for `judging` to say.
"""

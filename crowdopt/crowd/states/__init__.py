"""States of a task: the votes it has, by asker, numbered."""

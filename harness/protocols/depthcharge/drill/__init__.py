"""The drill: directions, facts, questions, answers, verdicts."""

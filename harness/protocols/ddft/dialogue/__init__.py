"""The dialogue: who asks, who answers, who judges."""

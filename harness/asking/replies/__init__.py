"""Replies that have to have a form: asked for, read leniently, counted."""
